from ninja import Router

from apps.operations.rest import route
from apps.profiles import selectors, services

router = Router(tags=["memory spaces"])

route(router, "GET", "/curation/profiles", selectors.usage_profile_list)
route(router, "POST", "/curation/profiles", services.usage_profile_save, status=201)
route(router, "PATCH", "/curation/profiles/{profile_id}", services.usage_profile_save, named="usage_profile_update")
