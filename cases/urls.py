"""All addresses: the pages, and the pages for errors."""

from django.urls import URLPattern, URLResolver, include, path

urlpatterns: list[URLPattern | URLResolver] = [path("", include("cases.web.urls"))]

handler400 = "cases.web.errors.bad_request"
handler403 = "cases.web.errors.permission_denied"
handler404 = "cases.web.errors.not_found"
handler500 = "cases.web.errors.server_error"
