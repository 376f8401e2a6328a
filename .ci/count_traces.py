"""Prints how many tests on real traces ran and how many were skipped, from a JUnit report."""

import os
import sys
import xml.etree.ElementTree as ElementTree

suite = ElementTree.parse(sys.argv[1]).getroot().find("testsuite")
assert suite is not None
skipped = int(suite.get("skipped", "0"))
ran = int(suite.get("tests", "0")) - skipped
print(f"real traces: {ran} tests run, {skipped} skipped")
if "MINEEVOLVE_TRACES" in os.environ and (skipped or not ran):
    sys.exit("MINEEVOLVE_TRACES is set: a test on real traces must not be skipped")
