"""The steps in config/compose.yaml make the database that its `apply` asks for."""
import os
import re
import subprocess
import unittest

from database import CONFIG, DatabaseTest


class Compose(DatabaseTest):
    install = []

    def test_its_steps_load_the_tables_and_views_of_the_configuration(self):
        with open(os.path.join(CONFIG, "compose.yaml"), encoding="utf-8") as file:
            (files, options) = re.search(r"^#   (cat .*) \| docker compose exec -T postgresql psql (-v \S+) ", file.read(), re.MULTILINE).groups()
        command = f"set -o pipefail; {files} | psql -qX {options} '{self.url}'"
        subprocess.run(["bash", "-c", command], cwd=CONFIG, check=True, capture_output=True)
        self.assertGreater(self.sql.value("select count(*) as rows from blog.documents"), 0)


if __name__ == "__main__":
    unittest.main()
