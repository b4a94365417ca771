"""The built site is strict: what MkDocs warns of ends the build, and is told."""

import pytest

from suite.report.site import build

CONFIG = "site_name: A site\ndocs_dir: site\nvalidation:\n  links:\n    not_found: warn\n"


@pytest.fixture
def root(tmp_path):
    (tmp_path / "mkdocs.yml").write_text(CONFIG)
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.md").write_text("# A page\n")
    return tmp_path


def test_a_site_without_warnings_is_built(root):
    assert build.build(root).is_file()


def test_a_broken_link_ends_the_build_and_is_named(root):
    (root / "site" / "index.md").write_text("# A page\n\n[elsewhere](nowhere.md)\n")
    with pytest.raises(RuntimeError, match=r"WARNING(.|\n)*nowhere\.md"):
        build.build(root)
