"""Every page of the console, with something on it."""

from tests.browser.content import Content


def pages(content: Content) -> dict[str, str]:
    """The path of each page that a signed-in administrator may see, by a short name."""
    ids = content.ids
    runbook = f"/memory/{ids['runbook']}"
    revisions = [item["revision"] for item in content.call("GET", f"/memories/{ids['runbook']}/history")["revisions"]]
    return {
        "dashboard": "/",
        "memories": "/memories",
        "memories-second-page": _second_page(content),
        "memories-searched": "/memories?query=部署",
        "memories-of-workspace": f"/memories?project_id={ids['relay']}&kind=rule",
        "memories-archived": "/memories?status=archived",
        "memories-none": "/memories?tag=nothing-has-this",
        "memory": runbook,
        "memory-chinese": f"/memory/{ids['locked']}",
        "memory-long": f"/memory/{ids['long']}",
        "memory-archived": f"/memory/{ids['roadmap']}",
        "memory-deleted": f"/memory/{ids['old']}",
        "memory-new": f"/memories/new?project_id={ids['relay']}",
        "memory-edit": f"{runbook}/edit",
        "memory-history": f"{runbook}/history",
        "memory-revision": f"{runbook}/history/{revisions[-1]}",
        "memory-difference": f"{runbook}/difference?old={revisions[-1]}&new={revisions[0]}",
        "trash": "/memories/trash",
        "checkpoints": "/checkpoints",
        "checkpoints-important": "/checkpoints?important=true",
        "checkpoint": f"/checkpoint/{ids['checkpoint search']}",
        "checkpoint-chinese": f"/checkpoint/{ids['checkpoint chapter']}",
        "search": "/search",
        "search-found": "/search?query=deploy",
        "search-chinese": f"/search?query=数据库&project_id={ids['relay']}",
        "search-nothing": "/search?query=xyzzyplugh",
        "search-narrowed": "/search?query=deploy&kind=rule&status=any&tags=deploy&updated_from=2020-01-01&explain=1",
        "search-explained": "/search?query=部署 checklist&explain=1&mode=text",
        "workspaces": "/workspaces",
        "workspace": f"/workspace/{ids['relay']}",
        "workspace-empty": f"/workspace/{ids['home']}",
        "workspace-new": "/workspaces/new",
        "workspace-edit": f"/workspace/{ids['relay']}/edit",
        "timeline": f"/timeline?project_id={ids['relay']}",
        "timeline-chinese": f"/timeline?project_id={ids['thesis']}",
        "timeline-none": "/timeline?project_id=global&since=2020-01-01&until=2020-01-02",
        "memory-move": f"{runbook}/move",
        "documents": "/documents",
        "documents-of-workspace": f"/documents?project_id={ids['thesis']}",
        "document": f"/document/{ids['document relay']}",
        "document-chinese": f"/document/{ids['document thesis']}",
        "document-history": f"/memory/{ids['document relay']}/history",
        "curation": "/curation",
        "curation-none": "/curation?status=failed",
        "curation-job": f"/curation/job/{ids['curation relay']}",
        "git": "/git",
        "git-history": "/git/history",
        "git-history-of-memory": f"/git/history?resource_id={ids['runbook']}",
        "git-history-none": "/git/history?kind=nothing",
        "git-commit": f"/git/commit/{ids['commit']}",
        "git-snapshot": f"/git/commit/{ids['baseline']}/snapshot?repository_id={ids['repository']}",
        "git-version": f"/git/version/{ids['commit']}/{ids['runbook']}",
        "git-strategy": "/git/strategy",
        "model": "/model",
        "git-server": "/git/connection",
        "jobs": "/jobs",
        "jobs-none": "/jobs?state=failed",
        "job": f"/job/{ids['job']}",
        "job-import": "/jobs/import",
        "workspace-delete": f"/workspace/{ids['relay']}/delete",
        "workspace-merge": f"/workspace/{ids['relay']}/merge",
        "workspace-merge-chosen": f"/workspace/{ids['relay']}/merge?into={ids['home']}",
        "space-delete": "/space/lin/delete",
        "spaces": "/spaces",
        "space": "/space/shared",
        "space-empty": "/space/lin",
        "space-new": "/spaces/new",
        "space-edit": "/space/lin/edit",
        "space-tokens": "/space/lin/tokens",
        "clients-stdio": "/clients#stdio",
        "clients": "/clients",
        "tokens": "/tokens",
        "token-new": "/tokens/new",
        "password": "/password",
    }


MISSING = {"missing": "/memory/nothing-is-called-this"}


def _second_page(content: Content) -> str:
    return "/memories?cursor=" + content.call("GET", "/memories?limit=20")["next_cursor"]
