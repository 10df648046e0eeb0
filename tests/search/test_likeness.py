"""What says the same is folded; what differs in the fact itself never is."""

import pytest

from apps.search.likeness import clash, fold, is_alike, said, says_the_same

SAME = [
    ("We deploy on Thursdays.", "The team deploys every Thursday."),
    ("The build cache lives on the NAS in the cellar", "The NAS in the cellar has the build cache"),
    ("每周四部署到生产环境", "生产环境每周四部署"),
    ("The staging server listens on port 8081", "Staging server: it listens on port 8081"),
]
APART = [
    ("We deploy on Thursdays.", "We deploy on Tuesdays."),
    ("We deploy on Thursdays.", "We do not deploy on Thursdays."),
    ("The staging server listens on port 8081", "The staging server listens on port 9090"),
    ("Maya works at Acme", "Maya works at Beta Corp"),
    ("the user prefers dark mode", "the user prefers light mode"),
    ("the database is postgres", "the database is mysql"),
    ("每周四部署到生产环境", "每周二部署到生产环境"),
    ("客户要求开发票", "客户不要求开发票"),
    ("Retries are limited to three", "Retries are limited to five"),
]
FOLDED_BY_MISTAKE = [
    ("The backup runs at 3 am every night.", "The backup runs at 3 pm every night."),
    ("Maya reports to Acme's CTO.", "Acme's CTO reports to Maya."),
    ("The version is 1.2.3 on prod.", "The version is 1.3.2 on prod."),
    ("First run tests, then deploy.", "First deploy, then run tests."),
    ("甲方付款，乙方发货。", "乙方付款，甲方发货。"),
    (
        "Team A deploys the payment service on Friday mornings.",
        "Team B deploys the payment service on Friday mornings.",
    ),
    ("接口 A 由张三负责维护。", "接口 B 由张三负责维护。"),
    (
        "Project a uses codename zanzibara with quantum pancakes.",
        "Project b uses codename zanzibara with quantum pancakes.",
    ),
    ("A owns the gateway and its certificates.", "B owns the gateway and its certificates."),
    ("Run migrations before deploying the web nodes.", "Run migrations after deploying the web nodes."),
    ("Turn on the feature flag for checkout.", "Turn off the feature flag for checkout."),
    ("Sign in with the work account at the portal.", "Sign out with the work account at the portal."),
    ("每天凌晨三点备份数据库到北京机房。", "每天凌晨三点备份数据库到上海机房。"),
    ("上线前先跑迁移脚本再重启服务。", "上线后先跑迁移脚本再重启服务。"),
    ("打开结账页面的功能开关。", "关闭结账页面的功能开关。"),
    ("内网允许访问管理端口。", "外网允许访问管理端口。"),
    ("Use serializable isolation for the orders table.", "Use serial isolation for the orders table."),
    (
        "The internal network uses port 8080 and TLS everywhere.",
        "The international network uses port 8080 and TLS everywhere.",
    ),
    ("The backups are encrypted at rest.", "The backups are unencrypted at rest."),
    ("The timeout is -5 seconds by default on the proxy.", "The timeout is 5 seconds by default on the proxy."),
    ("超时默认是 -5 秒，由代理设置。", "超时默认是 5 秒，由代理设置。"),
    ("Keep retries < 5 on the gateway.", "Keep retries > 5 on the gateway."),
    ("Alice reviews code of Bob and merges it.", "Bob reviews code of Alice and merges it."),
    ("The owner of Alice is Bob.", "The owner of Bob is Alice."),
    ("Traffic goes from Berlin to Munich every night.", "Traffic goes from Munich to Berlin every night."),
    ("张三审核李四的代码并合并。", "李四审核张三的代码并合并。"),
    ("流量从北京切到上海机房。", "流量从上海切到北京机房。"),
    ("Do not cache and log the requests of the gateway.", "Cache and do not log the requests of the gateway."),
    ("His laptop runs Debian with full encryption.", "Her laptop runs Debian with full encryption."),
    ("The gateway encrypts all traffic.", "The gateway encrypts some traffic."),
    ("The user is allergic to peanuts and walnuts.", "The user is allergic to peanuts or walnuts."),
    ("Alice approves the deploys of the shop.", "Alice and Bob approve the deploys of the shop."),
    ("We deploy the shop on Thursdays.", "We deploy the shop on Thursdays except in December."),
    ("The shop was hosted in Frankfurt.", "The shop is hosted in Frankfurt."),
    (
        "One long text of which much is the same. " * 60 + "Berlin.",
        "One long text of which much is the same. " * 60 + "Munich.",
    ),
]
REWORDED = [
    ("Since the load test staging runs PostgreSQL 16.", "Staging runs on PostgreSQL 16 since the load test."),
    ("Deployment to production is on Thursdays", "Deploy to production on Thursdays"),
    ("Bob's agent uses ruff for linting.", "Bob's agents use ruff for lint."),
    ("The port of the staging server is 8081", "On the staging server the port is 8081"),
    ("Maya works at Acme", "Maya Lindqvist is employed by Acme"),
    ("每周四部署到生产环境", "我们在每周四部署到生产环境"),
    ("数据库每天凌晨三点备份。", "数据库每天凌晨三点都备份。"),
]
UNLIKE = [
    ("We deploy on Thursdays.", "The kitchen has a new coffee machine."),
    ("每周四部署到生产环境", "小王喜欢喝绿茶"),
]


@pytest.mark.parametrize(("one", "other"), SAME + REWORDED)
def test_wordings_of_one_fact_say_the_same(one: str, other: str) -> None:
    assert says_the_same(said(one), said(other))


@pytest.mark.parametrize(("one", "other"), APART)
def test_a_different_fact_in_the_same_words_clashes(one: str, other: str) -> None:
    assert is_alike(said(one), said(other), loosely=True)
    assert clash(said(one), said(other)) and not says_the_same(said(one), said(other))


@pytest.mark.parametrize(("one", "other"), APART + FOLDED_BY_MISTAKE)
def test_no_contradiction_is_folded_whichever_comes_first_and_however_often_one_is_said(one: str, other: str) -> None:
    for first, last in ((one, other), (other, one)):
        assert not says_the_same(said(first), said(last))
        for often in (1, 2, 4):
            assert [group.leader for group in fold([said(first)] * often + [said(last)])] == [0, often]


@pytest.mark.parametrize(("one", "other"), UNLIKE)
def test_different_things_are_not_alike(one: str, other: str) -> None:
    assert not is_alike(said(one), said(other), loosely=True)
    assert len(fold([said(one), said(other)])) == 2


MAYA = [
    "Maya works at Acme",
    "Maya Lindqvist is employed by Acme",
    "Acme is Maya's employer",
    "Maya works for Acme as an engineer",
    "Maya works at Beta Corp",
]
PORTS = [
    "The staging server listens on port 8081.",
    "Note 2: Staging server port is 8081.",
    "Port of the staging server: 8081 (note 3)",
    "On staging the server uses port 8081",
    "The staging server listens on port 9090.",
]
TOPIC = [
    "The team deploys to production with Ansible.",
    "Production deploys need two approvals.",
    "We deploy production from the main branch.",
    "A production deploy takes twelve minutes.",
    "Production deploys are announced in the ops channel.",
]
SERIES = [f"Backup of {month}: {size} GB on the storage box" for month, size in
          (("January", 340), ("February", 350), ("March", 352), ("April", 361), ("May", 370))]  # fmt: skip


@pytest.mark.parametrize("wordings", [MAYA, PORTS], ids=["names", "figures"])
def test_many_wordings_fold_into_one_and_the_contradiction_stands_beside_it(wordings: list[str]) -> None:
    groups = fold([said(text) for text in wordings])
    assert [group.leader for group in groups] == [0, len(wordings) - 1]
    assert len(groups[0].alike) == len(wordings) - 2 and groups[0].contradicts == [len(wordings) - 1]


@pytest.mark.parametrize("texts", [TOPIC, SERIES], ids=["one subject", "a row of figures"])
def test_different_facts_of_one_subject_are_all_kept(texts: list[str]) -> None:
    assert [group.leader for group in fold([said(text) for text in texts])] == list(range(len(texts)))


def test_a_note_is_no_negation() -> None:
    assert not said("Note this").is_negated and said("Do not do this").is_negated and said("don’t do this").is_negated
    assert said("不要这样做").is_negated and not said("这是不同的做法").is_negated


def test_texts_without_words_are_only_like_themselves() -> None:
    assert is_alike(said(""), said("")) and not is_alike(said(""), said("deploy"))
    assert len(fold([said("!"), said("deploy"), said("...")])) == 2
