"""Write the committed copies of both contracts anew: ``python -m tests.contract.update``. Look at the difference."""

import os

import django


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memrelay.settings_test")
    django.setup()
    from tests.contract import surface, tools_contract  # Both need Django to be set up.

    surface.OPENAPI_FILE.write_text(surface.as_text(surface.openapi()), encoding="utf-8")
    tools_contract.update()
    print(f"Wrote {surface.OPENAPI_FILE.name} and {tools_contract.FILE.name}.")


if __name__ == "__main__":
    main()
