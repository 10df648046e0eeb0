"""Text in which nothing is a secret: what projects keep in memories, in two languages, and what only looks like one."""

import base64
import hashlib
import random
import uuid

from tests.secrets.made import some

DICE = random.Random(11)
SHA1 = [hashlib.sha1(str(one).encode()).hexdigest() for one in range(8)]
SHA256 = [hashlib.sha256(str(one).encode()).hexdigest() for one in range(8)]
SRI = base64.b64encode(hashlib.sha512(b"x").digest()).decode()
H1 = base64.b64encode(hashlib.sha256(b"y").digest()).decode()
UUIDS = [str(uuid.UUID(int=DICE.getrandbits(128), version=4)) for _ in range(8)]
PICTURE = base64.b64encode(DICE.randbytes(4000)).decode()

HARMLESS = {
    "English prose": """We met on Tuesday and agreed that the token bucket limiter is good enough for now. The password policy
stays: at least twelve characters, no rotation. Passwords are hashed with argon2id, tokens are 32-byte random values.
The secret is to keep the queue short. Key takeaways: caching helps, and the API key must be rotated every quarter.
The password is required. The token is expired. A secret is stored in the vault, its name is memrelay/prod/db.
Nobody remembers the pass phrase: it was never written down. Forgot your password? Reset it in the console.
Credentials: see the vault. Password: ask Alice. API key: (in the vault). Secret: none. Token: optional.
The password for the staging box is in the vault under staging-2024. The token is base64url-encoded and signed with ES256.
Use AES-256-GCM for the key; the access token is JWT-based, the refresh token is opaque. Basic authentication is off.""",
    "Chinese prose": """今天讨论了令牌轮换方案：令牌有效期改为 24 小时，刷新令牌为 30 天，结论见 docs/令牌.md。
密码策略：至少 12 位，密码长度为 8-20 位，密码必填，密码是必填项。忘记密码请找管理员重置，密码用 Argon2id 哈希，盐 16 字节。
密钥管理：密钥放在 Vault，密钥为 AES-256-GCM，每 90 天轮换一次；私钥从不离开机器。口令不能为空，口令错误 5 次锁定 15 分钟。
密码：见保险库。密码：（未设置）。密码：******。密钥：请向运维索取。授权码：无。凭证：存于 Bitwarden 条目“生产数据库”。
接口密钥的名称是 memrelay-prod-2024，密码字段叫 password_hash，token 字段叫 access_token。验证码 10 分钟内有效。
2024 年 6 月 1 日上线，联系电话 13800138000，工单 OPS-20240601-17，版本 v2.3.1。密码 2024-06-01 已更新。""",
    "near misses": f"""Password - required. Password — at least 12 characters. Password
The field is required.
- login: team/backend2, credentials: team/service-account-3, 账号：研发/后端2，帐号密码是 见保险库/生产
key: users/2024/profile2.json, cache key: user:42:profile2, primary key: (id, name2), idempotency key: {UUIDS[3]}
public key: {some(60)}, host key: SHA256:{some(43)}, the key is to wait, key = name2, keys: a1, b2
pin: 12, GPIO pin 4, 验证码：6 位数字，10 分钟内有效；pin code is 6 digits; docker run -p 8080:80 nginx2, redis-cli -h cache2
api key rotation2, token v2, secret manager2, password reset2; api key: see above; use token bucket 2024
密码
见保险库。
password
```
no secret here2
```
""",
    "placeholders": """password: your-password-here
API_KEY=<your api key>
token: ${TOKEN}
SECRET_KEY={{ secret_key }}
password = os.environ["DB_PASSWORD"]
DB_PASSWORD=$DB_PASSWORD
密码：<填你的密码>
密码：xxxxxxxx
token: xxxxxxxxxxxxxxxxxxxx
api_key: "YOUR_API_KEY"
password: changeme
password: ********
Authorization: Bearer <token>
Authorization: Bearer $TOKEN
Cookie: session=...
password: vault:secret/data/db#password""",
    "git": "\n".join(
        [f"commit {one}\nAuthor: Alice <alice@example.com>\nDate:   2026-02-03 10:11:12 +0800\n" for one in SHA1]
        + [f"{SHA1[0][:12]}..{SHA1[1][:12]} main -> origin/main", f"index {SHA1[2][:7]}..{SHA1[3][:7]} 100644"]
    ),
    "hashes": "\n".join(
        [f"sha256:{one}" for one in SHA256]
        + [f"{one}  dist/memrelay-1.{n}.tar.gz" for n, one in enumerate(SHA256)]
        + ["MD5 (a.txt) = " + hashlib.md5(b"z").hexdigest(), f'ETag: "{SHA1[4]}"', f'checksum = "{SHA256[3]}"']
    ),
    "UUIDs": "\n".join(
        [f"job {one} is done" for one in UUIDS] + [f"request_id={UUIDS[0]} trace={UUIDS[1].replace('-', '')}"]
    ),
    "pictures": f"![shot](data:image/png;base64,{PICTURE})\n"
    + "\n".join(PICTURE[n : n + 76] for n in range(0, 1520, 76)),
    "lock files": f"""{{"node_modules/left-pad": {{"version": "1.3.0", "resolved": "https://registry.example.org/left-pad-1.3.0.tgz",
 "integrity": "sha512-{SRI}"}}}}
left-pad@^1.3.0:
  resolved "https://registry.example.org/left-pad-1.3.0.tgz#{SHA1[5]}"
  integrity sha512-{SRI}
django==5.2.1 \\
    --hash=sha256:{SHA256[0]} \\
    --hash=sha256:{SHA256[1]}
golang.org/x/crypto v0.21.0 h1:{H1}
golang.org/x/crypto v0.21.0/go.mod h1:{H1}
[[package]]
name = "tokenizers"
checksum = "{SHA256[2]}"
""",
    "Python": """
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
TOKEN_PREFIX, SECRET_NAME = "mrl_", "memrelay-secret-name"
password = request.POST["password"]
token = secrets.token_urlsafe(32)
api_key = settings.OPENAI_API_KEY
secret_key: str = Field(description="The secret key of the bucket.")
def sign_in(username: str, password: str, *, token: str | None = None) -> Session:
    if not check_password(password, user.password):
        raise WrongPassword(password_hint=user.password_hint2)
    return make(password=password1, secret=secret_for(user), api_key=self.api_key2, token=token2)
assert response["token"] == token and len(token) >= 32
parser.add_argument("--password", help="The password of the user.")
labels = {"password": _("Enter your password."), "token": _("Paste the token here.")}
key = hashlib.sha256(token.encode()).hexdigest()[:16]
private_key: Ed25519PrivateKeyTypes
""",
    "JavaScript": """
const token = localStorage.getItem('token2');
const { password, apiKey } = req.body;
if (password !== confirmPassword) throw new Error('Passwords differ');
<input type="password" name="password" autocomplete="current-password" placeholder="Password">
fetch(url, { headers: { Authorization: `Bearer ${token}`, 'X-Api-Key': process.env.API_KEY } });
export type Credentials = { password: string; secretKey?: string | undefined; token: AccessTokenV2 };
const cacheKey = `user:${id}:profile2`;
passwordField.addEventListener('keydown2', onKey);
""",
    "Go": """
func Open(dsn string, password string) (*DB, error) {
	token := os.Getenv("TOKEN")
	cfg := Config{Password: password, Secret: cfg.Secret2, APIKey: flags.APIKey}
	if tok.Type == token.IDENT2 { return nil, ErrToken }
	block, _ := pem.Decode([]byte(privateKey))
	return sql.Open("postgres", fmt.Sprintf("postgres://%s:%s@%s/app", user, password, host))
}
""",
    "shell and YAML": """
export PATH=/usr/local/bin:$PATH
export JAVA_HOME=/usr/lib/jvm/java-17-openjdk-amd64
IMAGE_DIGEST=sha256:0123
echo $PASSWORD | docker login --password-stdin -u bob registry.example.org
kubectl get secret db-password-2024 -o yaml
env:
  - name: DB_PASSWORD
    valueFrom:
      secretKeyRef:
        name: db-credentials
        key: password
secrets:
  - db_password
password:
  type: string
  minLength: 12
""",
    "log lines": f"""2026-02-03T10:11:12.345Z INFO request_id={UUIDS[2]} path=/api/v1/memories status=200 ms=12
2026-02-03 10:11:13,001 WARNING token refresh took 123ms; tokens=128000 max_tokens=4096 token_type=bearer
10.0.0.7 - - [03/Feb/2026:10:11:14 +0000] "POST /login HTTP/1.1" 302 0 "-" "Mozilla/5.0 (X11; Linux x86_64)"
ERROR invalid password for user bob from 10.0.0.8 port 51234 ssh2
WARN secret "db-password" not found in namespace "prod2"
trace 4bf92f3577b34da6a3ce929d0e0e4736 span 00f067aa0ba902b7
""",
    "dates and numbers": "2026-02-03, 2026-02-03T10:11:12+08:00, 10:11, +86 138 0013 8000, 010-62781234, 4111, 3.14159, ¥128.50",
    "addresses": f"""https://example.org/docs/token?page=2#password-reset and https://git.example.org/a/b/commit/{SHA1[6]}
https://docs.example.org/d/{some(44)}/edit and http://127.0.0.1:8765/mcp, ssh://git@host:2222/a/b.git
https://example.org/search?q=%E5%AF%86%E7%A0%81&next_token=2 and mailto:alice@example.com
postgres://user:password@localhost/app and redis://:${{REDIS_PASSWORD}}@cache:6379/0""",
    "tables": """| field | type | meaning |
|---|---|---|
| password | string | The user's password. |
| token | string | At least 20 characters. |
| 密码 | 必填 | 至少 12 位 |

| name | password | since |
|---|---|---|
| bob | (in the vault) | 2024-01-01 |
| carol | 见保险库 | 2024-01-02 |

name,token,since
bob,none,2024-01-01
""",
    "identifiers": "tokenBucketLimiterV2 passwordResetToken2 secret_manager_client_v1 api-key-rotation-2024 mem_01HZX4 "
    + " ".join(f"ses_{some(12, seed=n)}" for n in range(4)),
}
