"""Secrets that only the words beside them tell, in English and Chinese; values made at run time as in ``made``."""

import base64
import string

from tests.secrets.made import BASE32, HEX, WORD, key_block, some

WEAK = "hunter" + "2024"
STRONG = "Tr0ub4dor" + "&3x!"
RANDOM = some(24)
LONG = some(40, WORD + "-_")
PAIR = base64.b64encode(f"alice:{STRONG}".encode()).decode()
HASH = "$2b$" + "12$" + some(53, WORD + "./")
WORDS = " ".join(
    ["orbit", "velvet", "canyon", "mirror", "lunar", "tiger", "basket", "ocean", "pepper", "violin", "amber", "frost"]
)
ENVELOPE = base64.b64encode(key_block().encode()).decode()

# Name of the case: the text with {} where the secret stands, and the secret.
ENGLISH = {
    "password on a machine": ("The DB password on staging is: {}", STRONG),
    "name and password": ("login: admin / {}", STRONG),
    "password with an arrow": ("Password → {}", STRONG),
    "password with a dash": ("- Password — {}", STRONG),
    "password in quotes": ('use password "{}" there', STRONG),
    "password on a line of its own": ("Password\n{}\n", STRONG),
    "PGPASSWORD": ("PGPASSWORD={} psql -h db", STRONG),
    "properties": ("spring.datasource.password={}", STRONG),
    "redis-cli": ("redis-cli -a {} ping", RANDOM),
    "docker login": ("docker login -u bob -p {} registry.example.org", RANDOM),
    "token in an address": ("git clone https://{}@git.example.org/a.git", RANDOM),
    "PIN": ("PIN: {}", "48" + "2193"),
    "key of a model": ("my model key is {}", RANDOM),
    "bare key": ("key: {}", RANDOM),
    "API key behind a space": ("use api key {} there", RANDOM),
    "subscription key": ("Ocp-Apim-Subscription-Key: {}", RANDOM),
    "secret id": ("secret_id: {}", RANDOM),
    "password with a colon": ("password: {}", WEAK),
    "password in a file": ("DB_PASSWORD={}\nNEXT=1", STRONG),
    "password in JSON": ('{{"user": "alice", "password": "{}", "port": 5432}}', STRONG),
    "one word in JSON": ('{{"password":"{}"}}', "sword" + "fish"),
    "escaped JSON": (r"{{\"password\": \"{}\"}}", STRONG),
    "password in YAML": ("database:\n  password: {}\n  port: 5432", WEAK),
    "password in Python": ("connect(host, password='{}')", STRONG),
    "password told": ("The admin password is {}, tell nobody.", STRONG),
    "password told for something": ("the password for the staging box is now {}", WEAK),
    "password changed": ("password changed to {}.", STRONG),
    "password of six figures": ("Password: {}", "482" + "913"),
    "pw": ("user: bob, pw: {}", STRONG),
    "long opaque token": ("refresh_token: {}", some(900)),
    "passphrase": ("passphrase: `{}`", STRONG),
    "SQL": ("CREATE USER bob IDENTIFIED BY '{}';", STRONG),
    "connection string": ("Server=db;User Id=sa;Password={};Encrypt=True", STRONG),
    "weak password in an address": ("mysql://bob:{}@10.0.0.5/app", "abc" + "987"),
    "address with arguments": ("jdbc:postgresql://db/app?user=bob&password={}&ssl=true", RANDOM),
    "command line": ("tool login --user bob --password {} --yes", STRONG),
    "mysql": ("mysql -h db -u root -p{} app", RANDOM),
    "curl": ("curl -u bob:{} https://example.org/x", RANDOM),
    "sshpass": ("sshpass -p '{}' ssh root@10.0.0.5", RANDOM),
    "netrc": ("machine git.example.org login bob password {}", RANDOM),
    "XML": ("<user>bob</user><password>{}</password>", STRONG),
    "API key": ("api_key = {}", RANDOM),
    "API key with a space": ("API key: {}", RANDOM),
    "API key in a header": ("X-Api-Key: {}", RANDOM),
    "client secret": ('"clientSecret": "{}"', RANDOM),
    "access token": ("access_token={}&expires_in=3600", LONG),
    "token in a table": ("| what | value |\n|---|---|\n| API token | {} |", RANDOM),
    "column of a table": ("| user | password |\n|---|---|\n| bob | {} |", STRONG),
    "column of a sheet": ("user,password,role\nbob,{},admin", STRONG),
    "bearer": ("Authorization: Bearer {}", LONG),
    "basic": ("Authorization: Basic {}", PAIR),
    "cookie": ("Cookie: theme=dark; session={}", LONG),
    "session id": ("Set-Cookie: PHPSESSID={}; Path=/; HttpOnly", RANDOM),
    "variable without a telling name": ("export STRIPE_LIVE={}", LONG),
    "hash of a password": ("root's entry is {}", HASH),
    "seed phrase": ("seed phrase: {}", WORDS),
    "TOTP seed": ("TOTP secret: {}", some(32, BASE32)),
    "WLAN code": ("WIFI:T:WPA;S:office;P:{};;", RANDOM),
    "key block in base64": ("client-key-data: {}", ENVELOPE),
    "hexadecimal secret": ("signing_key: {}", some(64, HEX)),
}
CHINESE = {
    "账号斜杠密码": ("账号/密码：admin/{}", STRONG),
    "用户名，下一行密码": ("用户名：admin\n密码：{}", STRONG),
    "密码，单独一行": ("密码\n{}", STRONG),
    "密码就是": ("密码就是{}", STRONG),
    "请用密码": ("请用密码 {} 登录", STRONG),
    "默认密码": ("默认密码：{}", "admin" + "@123"),
    "八位数字": ("解压密码: {}", "8888" + "6666"),
    "PIN 码": ("pin 码：{}", "48" + "2193"),
    "验证码": ("验证码：{}", "482" + "913"),
    "私钥": ("私钥：{}", RANDOM),
    "微信 AppSecret": ("微信 AppSecret 是 {}", RANDOM),
    "令牌（长期有效）": ("token（长期有效）：{}", RANDOM),
    "密码，全角冒号": ("密码：{}", WEAK),
    "密码，一个词": ("数据库密码：{}", "sword" + "fish"),
    "密码是": ("测试环境的密码是{}，别外传", STRONG),
    "密码为": ("登录密码为 {}。", WEAK),
    "密码改成了": ("管理员密码已经改成了 {}，记得更新", STRONG),
    "密码，空格": ("办公室 WiFi 密码 {}", "office" + "8888"),
    "密码，带说明": ("密码（生产环境）：{}", STRONG),
    "密码，下一行": ("密码：\n  {}", RANDOM),
    "密码，六位数字": ("取款密码：{}", "482" + "913"),
    "密码，引号": ("把密码设为“{}”即可", STRONG),
    "密码，加粗": ("**密码**：**{}**", STRONG),
    "密码，代码": ("`密码`：`{}`", STRONG),
    "密码，表格": ("| 账号 | 密码 |\n| --- | --- |\n| root | {} |", STRONG),
    "密码，表格行": ("| 密码 | {} |", STRONG),
    "口令": ("口令：{}", WEAK),
    "密钥": ("接口密钥：{}", RANDOM),
    "秘钥": ("秘钥={}", RANDOM),
    "令牌": ("访问令牌是 {}", LONG),
    "授权码": ("邮箱授权码：{}", some(16, string.ascii_lowercase)),
    "助记词": ("助记词：{}", WORDS),
    "繁體密碼": ("密碼：{}", STRONG),
    "API 密钥": ("API 密钥为 {}，额度 100 元", RANDOM),
    "token 是": ("这个 token 是 {}", RANDOM),
    "连接串": ("连接串：postgres://bob:{}@db/app", "abc" + "987"),
}
