# SPDX-License-Identifier: Apache-2.0
"""What tests in Python print for tests/run: one line a test, the plan at the end (TAP)."""

MOST_LINES = 40  # of what is said about a failure


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def report(self, good, name, detail=""):
        """One test. Of what failed, `detail` (a text, or lines) is shown."""
        self.count += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}", flush=True)
        lines = detail if isinstance(detail, list) else str(detail).splitlines()
        if not good and lines:
            print("\n".join("# " + line.replace("\n", " ") for line in lines[-MOST_LINES:]), flush=True)

    def skip(self, name, why):
        self.count += 1
        print(f"ok {self.count} - {name} # SKIP {why}", flush=True)

    def run(self, name, function, *arguments):
        """A test that fails by raising: a broken test is a failed one, and the others still run."""
        try:
            function(*arguments)
        except NotImplementedError as missing:
            self.skip(name, missing)
        except Exception as error:
            self.report(False, name, f"{type(error).__name__}: {error}")
        else:
            self.report(True, name)

    def end(self):
        """Prints the plan; the exit status."""
        print(f"1..{self.count}")
        return 1 if self.failed else 0
