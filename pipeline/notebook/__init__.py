"""The notebook that `mineevolve notebook` opens: plots.py has the plots, standard.py shows them in marimo."""
