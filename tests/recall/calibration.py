"""What the threshold and the weights were set by: memories as agents save them, and messages as people type them.

``RELATED`` name the memory that should come. ``UNRELATED`` are what people say all day while an agent works: nothing should
come. Both languages, and memories of each kind: short and long, with and without summary and tags.
"""

from typing import NamedTuple


class Kept(NamedTuple):
    title: str
    body: str
    summary: str = ""
    tags: tuple[str, ...] = ()


MEMORIES = [
    Kept(
        "Deploy day",
        "We deploy to production on Thursdays after ten, never on Fridays.",
        tags=("release", "production"),
    ),
    Kept(
        "Staging database",
        "Staging runs on Postgres 15 at db-staging.internal, port 5433.",
        "Where the staging database is",
    ),
    Kept(
        "Invoice rounding",
        "Amounts are rounded half up per line, then summed.",
        "How invoices round cents",
        ("billing",),
    ),
    Kept("Retry policy of the payment gateway", "Three retries with back-off, then the order is parked for a person."),
    Kept(
        "Feature flags",
        "Flags live in flags.yaml; a flag older than two sprints is removed.",
        tags=("toggle", "unleash"),
    ),
    Kept("Customer Halvorsen wants PDF receipts", "They print them for their tax office in Oslo every quarter."),
    Kept(
        "Memory leak in the thumbnail worker",
        "Pillow kept file handles; closing images after resize mended it.",
        tags=("bug",),
    ),
    Kept("Branch naming", "Branches are called type/ticket-short-words, such as fix/PAY-812-rounding."),
    Kept(
        "Maya leads the mobile team", "Maya Lindqvist leads mobile since September; ask her about push notifications."
    ),
    Kept("Coffee machine", "Descale the kitchen's coffee machine on the first Monday of a month.", tags=("office",)),
    Kept("Colour of warnings", "Amber #B45309 on light, never red: red is for errors.", "Design tokens of warnings"),
    Kept(
        "ERR_CONN_RESET on upload",
        "nginx client_max_body_size was 1m; now 20m in infra/nginx.conf.",
        tags=("nginx", "upload"),
    ),
    Kept(
        "Why we left Kafka",
        "Too many moving parts for 40 messages a second; Postgres queues do.",
        "Decision: queues in Postgres",
    ),
    Kept("On-call rota", "Changes every Wednesday at noon; swaps are announced in the channel ops-rota."),
    Kept(
        "Licence of the font",
        "Inter is under the OFL; ship the licence file with the assets.",
        tags=("legal", "typography"),
    ),
    Kept("src/billing/tax.py rounding bug", "Decimal quantize was called before the discount.", "Tax off by one cent"),
    Kept(
        "User prefers tabs",
        "The user wants tabs in Go and four spaces in Python.",
        "Indentation the user likes",
        ("style",),
    ),
    Kept(
        "Backups",
        "Nightly at 02:30 to the Hetzner storage box; restore drill each quarter.",
        tags=("restore", "disaster"),
    ),
    Kept(
        "Translation glossary",
        "Workspace is 工作区, checkpoint is 检查点.",
        "Words to use in Chinese",
        ("i18n", "localisation"),
    ),
    Kept(
        "Accessibility audit", "Focus rings were missing in the date picker; contrast is fine.", tags=("a11y", "wcag")
    ),
    Kept("发布流程", "每周四上午十点之后发布到生产环境，周五绝不发布。", "什么时候可以上线", ("上线", "部署")),
    Kept("测试数据库地址", "测试库在 db-test.internal，端口 5433，每晚重置。", tags=("数据库",)),
    Kept("客户华信要求纸质发票", "华信集团财务每季度需要盖章的纸质发票，寄到深圳。", tags=("发票", "客户")),
    Kept("图片压缩任务内存泄漏", "缩略图任务没有关闭文件句柄，升级 Pillow 后解决。", "缩略图服务内存持续上涨"),
    Kept("为什么不用微服务", "团队只有五个人，单体应用部署简单，等到二十人再拆分。", "架构决定：保持单体"),
    Kept("小李负责移动端", "李雨桐从九月起负责移动端，推送问题找她。", tags=("负责人", "移动端")),
    Kept("支付网关重试策略", "最多重试三次，之后转人工处理。", tags=("支付", "重试")),
    Kept("代码评审约定", "合并前至少一人评审，超过四百行的改动要拆分。", "评审规则"),
    Kept("报表导出慢的原因", "缺少 created_at 索引，加上之后从四十秒降到两秒。", tags=("性能", "索引")),
    Kept("会议室投影仪", "三号会议室的投影仪要用 HDMI 转接头。", tags=("办公室",)),
]

RELATED = [
    ("When do we deploy to production?", "Deploy day"),
    ("can I ship the release to production on Friday?", "Deploy day"),
    ("What port does the staging database listen on?", "Staging database"),
    ("connect to the staging db and count the users in the database", "Staging database"),
    ("The invoice total is off by a cent, how do we round invoices?", "Invoice rounding"),
    ("the payment gateway times out, how many retries do we do?", "Retry policy of the payment gateway"),
    ("add a feature flag for the new checkout", "Feature flags"),
    ("Halvorsen asks for receipts again", "Customer Halvorsen wants PDF receipts"),
    ("thumbnail worker is eating memory again", "Memory leak in the thumbnail worker"),
    ("what's our branch naming convention", "Branch naming"),
    ("Who leads the mobile team?", "Maya leads the mobile team"),
    ("the coffee machine tastes awful", "Coffee machine"),
    ("which colour should warnings have?", "Colour of warnings"),
    ("users get ERR_CONN_RESET when they upload a big file", "ERR_CONN_RESET on upload"),
    ("should we use Kafka for the queue?", "Why we left Kafka"),
    ("who is on-call, when does the rota change?", "On-call rota"),
    ("are we allowed to ship the font, what licence is it", "Licence of the font"),
    ("look into src/billing/tax.py, there is a bug", "src/billing/tax.py rounding bug"),
    ("format this Go file with the indentation I prefer, tabs", "User prefers tabs"),
    ("when was the last restore drill of the backups?", "Backups"),
    ("update the glossary for the translation", "Translation glossary"),
    ("run an accessibility audit of the date picker", "Accessibility audit"),
    ("我们什么时候发布到生产环境？", "发布流程"),
    ("周五可以上线吗", "发布流程"),
    ("测试数据库的端口是多少", "测试数据库地址"),
    ("华信又来催纸质发票了", "客户华信要求纸质发票"),
    ("缩略图服务的内存又涨了", "图片压缩任务内存泄漏"),
    ("我们要不要拆成微服务？", "为什么不用微服务"),
    ("移动端的推送问题该找谁，谁是负责人", "小李负责移动端"),
    ("支付失败以后会重试几次", "支付网关重试策略"),
    ("代码评审有什么规则", "代码评审约定"),
    ("报表导出太慢了", "报表导出慢的原因"),
    ("会议室的投影仪连不上", "会议室投影仪"),
]

UNRELATED = [
    "ok",
    "yes",
    "好的",
    "Hello!",
    "你好",
    "thanks, that works great",
    "谢谢，继续吧",
    "go on",
    "please continue",
    "looks good to me, ship it",
    "可以，没问题",
    "hm, not sure about this one",
    "what do you think?",
    "run the tests again",
    "再跑一遍测试",
    "fix the lint errors",
    "explain this function to me",
    "帮我解释一下这个函数",
    "can you write a unit test for it?",
    "no, the other file",
    "不对，是另外一个文件",
    "make it shorter",
    "简短一点",
    "what is the capital of Norway?",
    "write a haiku about autumn leaves",
    "今天天气怎么样",
    "讲个笑话",
    "convert 30 miles to kilometres",
    "sort this list alphabetically",
    "why is the sky blue",
    "open the README and summarise it",
    "commit this with a sensible message",
    "把这段代码重构一下",
    "undo the last change",
    "add a comment there",
    "what time is it in Tokyo?",
    "how old is the universe",
    "推荐一部电影",
    "👍",
    "...",
    "1",
    "/help",
    "which of the two do you prefer?",
    "is there a way to do this in one line?",
    "the user clicked the button and nothing happened",
    "let's start with the first one",
    "我想先看看结果",
    "你觉得哪个方案更好",
    "为什么会这样",
    "rename the variable x to count",
    "which Python version do I need for match statements?",
    "the new page needs a table with three columns",
    "decision trees or random forests for this data set?",
    "I work from home on Mondays",
    "plan my week",
    "写一首关于秋天的诗",
    "删除这一行",
    "这个接口返回什么",
]
