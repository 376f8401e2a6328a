-- The Wilson score interval of k successes in n trials at 95 % (z = 1.959964), null for n = 0. With
-- p = k/n: centre (p + z²/2n) / (1 + z²/n), half width z/(1 + z²/n) · sqrt(p(1-p)/n + z²/4n²).
CREATE MACRO wilson_centre(k, n) AS
    (k / nullif(n, 0) + 1.959964 ^ 2 / (2 * nullif(n, 0))) / (1 + 1.959964 ^ 2 / nullif(n, 0));
CREATE MACRO wilson_half_width(k, n) AS
    1.959964 / (1 + 1.959964 ^ 2 / nullif(n, 0))
    * sqrt(k / nullif(n, 0) * (1 - k / nullif(n, 0)) / nullif(n, 0) + 1.959964 ^ 2 / (4 * nullif(n, 0) ^ 2));
-- greatest and least pass over a null, so n = 0 is asked for.
CREATE MACRO wilson_low(k, n) AS
    CASE WHEN n > 0 THEN greatest(0, wilson_centre(k, n) - wilson_half_width(k, n)) END;
CREATE MACRO wilson_high(k, n) AS
    CASE WHEN n > 0 THEN least(1, wilson_centre(k, n) + wilson_half_width(k, n)) END;

COMMENT ON MACRO wilson_low IS 'Lower end of the 95 % Wilson interval of k successes in n trials';
COMMENT ON MACRO wilson_high IS 'Upper end of the 95 % Wilson interval of k successes in n trials';
COMMENT ON MACRO wilson_centre IS 'Middle of the 95 % Wilson interval of k successes in n trials';
COMMENT ON MACRO wilson_half_width IS 'Half the width of the 95 % Wilson interval of k successes in n trials';
