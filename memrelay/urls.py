"""Every address that Django serves; ``asgi.py`` serves ``/mcp`` beside it."""

from importlib.util import find_spec

from django.conf import settings
from django.contrib import admin
from django.urls import include, path, re_path
from django.views.generic import RedirectView

from memrelay.api import api, no_such_path

ROOMS_WITH_PAGES = ["instance", "console"]

urlpatterns = [
    path("api/v1/", api.urls),
    re_path(r"^api(?:/.*)?$", no_such_path),
    path("i18n/", include("django.conf.urls.i18n")),
    # There is one way to sign in, and it counts failures.
    path("admin/login/", RedirectView.as_view(pattern_name=settings.LOGIN_URL, query_string=True)),
    path("admin/", admin.site.urls),
    *[path("", include(f"apps.{room}.urls")) for room in ROOMS_WITH_PAGES if find_spec(f"apps.{room}.urls")],
]

handler400 = "memrelay.api.malformed_request"
handler404 = "memrelay.api.missing_page"
handler500 = "memrelay.api.failed_request"
