"""What is wrapped at the width of the screen, and what is not."""

from k3preflight.render import Screen
from k3preflight.render.console import Page


def test_a_word_wider_than_the_screen_is_left_whole() -> None:
    page = Page(Screen(width=40))
    command = f"rm -- /cache/{'e' * 64}.incomplete"
    page.line("-> Delete them first: ", command, indent=4)
    page.line("a paragraph of ordinary words that is wrapped at the width", indent=4)
    whole, *wrapped = page.text.splitlines()
    assert whole == f"    -> Delete them first: {command}"
    assert len(wrapped) == 2
