"""Coming in as the administrator, as a person does."""

from playwright.sync_api import Page, expect

PASSWORD = "an owl counts the lanterns"


def sign_in(page: Page, url: str, password: str) -> None:
    page.goto(f"{url}/sign-in")
    page.locator("#id_username").fill("admin")
    page.locator("#id_password").fill(password)
    page.locator("main button.button-primary").click()


def first_sign_in(page: Page, url: str, one_time: str) -> None:
    """Sign in with the one-time password and choose one of one's own."""
    sign_in(page, url, one_time)
    expect(page).to_have_url(f"{url}/password")
    page.goto(f"{url}/memories")
    expect(page).to_have_url(f"{url}/password")  # It opens nothing else.
    page.locator("#id_old_password").fill(one_time)
    page.locator("#id_new_password1").fill(PASSWORD)
    page.locator("#id_new_password2").fill(PASSWORD)
    page.locator("main button.button-primary").click()
    expect(page).to_have_url(f"{url}/")
