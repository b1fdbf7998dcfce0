# SPDX-License-Identifier: Apache-2.0
"""pytest: a fixture that certifies.

    def test_my_kernel(certify):
        certify(my_kernel)

pytest --attest-level full asks for more cases than smoke. The arguments are those of
attest_attention.certify; the report is returned.
"""

import pytest


def pytest_addoption(parser):
    group = parser.getgroup("attest")
    group.addoption("--attest-level", choices=("smoke", "quick", "full", "exhaustive"),
                    help="cases of the fixture `certify`, over what the test says (smoke)")


@pytest.fixture
def certify(request):
    import attest_attention

    level = request.config.getoption("--attest-level")
    # Tests that run side by side share the machine already.
    alone = not hasattr(request.config, "workerinput")

    def certified(function, **options):
        __tracebackhide__ = True
        options["level"] = level or options.get("level", "smoke")
        if not alone:
            options.setdefault("jobs", 1)
        report = attest_attention.certify(function, progress=False, **options)
        if report.certified or (not report.failures and _cut_on_purpose(options)):
            return report
        words = [report.verdict]
        for failure in report.first_failures[:3]:
            words += ["", str(failure)]
        if report.failures:
            words += ["", "the smallest case that shows it:", "", report.failures[0].reproducer]
        pytest.fail("\n".join(words), pytrace=False)
        return report
    return certified


def _cut_on_purpose(options):
    """A run of some checks certifies nothing, and has passed if none failed."""
    return any(options.get(name) for name in ("only", "skip", "budget"))
