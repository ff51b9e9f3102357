"""Credentials by format. Every one is put together at run time: no literal here is a secret."""

from __future__ import annotations

import base64
import hashlib
import re
import string
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest

from memnb.core import secret_assignments, secret_contexts, secret_rules
from memnb.core.screening import Findings, mask, screen
from memnb.core.secret_search import secret_spans

LETTERS = string.ascii_letters
ALNUM = string.ascii_letters + string.digits
LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"
WORD = ALNUM + "-_"
BASE64 = ALNUM + "+/"


def made(characters: str, n: int, seed: int = 7) -> str:
    """`n` characters as a generator of keys would give, the same in every run."""
    noise = hashlib.shake_256(f"{characters}{n}{seed}".encode()).digest(n - 2)
    picked = "".join(characters[byte % len(characters)] for byte in noise)
    return picked + characters[0] + characters[-3]


def uuid_like() -> str:
    return "-".join(made(HEX, n) for n in (8, 4, 4, 4, 12))


def encoded(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def pem(kind: str) -> str:
    body = "\n".join(made(BASE64, 64, seed) for seed in range(4))
    return f"-----BEGIN {kind}PRIVATE KEY-----\n{body}\n-----END {kind}PRIVATE KEY-----"


FORMATS = {
    "aws-access-key": "AK" + "IA" + made(UPPER, 16),
    "google-api-key": "AI" + "za" + made(ALNUM, 35),
    "google-oauth-secret": "GOC" + "SPX-" + made(ALNUM, 28),
    "google-oauth-token": "ya" + "29." + made(WORD, 60),
    "digitalocean-token": "dop" + "_v1_" + made(HEX, 64),
    "github-token": "gh" + "p_" + made(ALNUM, 36),
    "github-token app": "gh" + "s_" + made(ALNUM, 36),
    "github-token fine-grained": "github" + "_pat_" + made(ALNUM, 22) + "_" + made(ALNUM, 59),
    "gitlab-token": "gl" + "pat-" + made(ALNUM, 20),
    "gitlab-token routable": "gl" + "pat-" + made(ALNUM, 27) + ".01." + made(LOWER, 9),
    "slack-token bot": "xo" + "xb-" + made("123456789", 12) + "-" + made(ALNUM, 24),
    "slack-token user": "xo" + "xp-" + "-".join([made("123456789", 12)] * 3) + "-" + made(HEX, 32),
    "slack-webhook": "https://hooks." + "slack.com/services/T" + made(UPPER, 8) + "/B"
    + made(UPPER, 8) + "/" + made(ALNUM, 24),
    "openai-key": "sk-" + "proj-" + made(WORD, 120),
    "openai-key old": "sk" + "-" + made(ALNUM, 48),
    "anthropic-key": "sk-" + "ant-api03-" + made(WORD, 93) + "AA",
    "huggingface-token": "h" + "f_" + made(LETTERS, 34),
    "groq-key": "gs" + "k_" + made(ALNUM, 52),
    "perplexity-key": "pp" + "lx-" + made(ALNUM, 48),
    "replicate-token": "r" + "8_" + made(ALNUM, 37),
    "stripe-key": "sk" + "_live_" + made(ALNUM, 24),
    "stripe-webhook-secret": "wh" + "sec_" + made(ALNUM, 32),
    "twilio-key": "S" + "K" + made(HEX, 32),
    "sendgrid-key": "S" + "G." + made(WORD, 21) + "a." + made(WORD, 42) + "a",
    "mailgun-key": "ke" + "y-" + made(HEX, 32),
    "mailchimp-key": made(HEX, 32) + "-u" + "s12",
    "npm-token": "np" + "m_" + made(ALNUM, 36),
    "pypi-token": "py" + "pi-AgEIcHlwaS5vcmc" + made(ALNUM, 90),
    "docker-token": "dckr" + "_pat_" + made(ALNUM, 27),
    "databricks-token": "da" + "pi" + made(HEX, 32),
    "heroku-key": "HR" + "KU-" + uuid_like(),
    "shopify-token": "sh" + "pat_" + made(HEX, 32),
    "square-token": "sq0" + "csp-" + made(ALNUM, 43),
    "telegram-token": made("123456789", 10) + ":" + "AA" + made(ALNUM, 33),
    "discord-webhook": "https://discord" + ".com/api/webhooks/" + made("123456789", 18) + "/"
    + made(ALNUM, 68),
    "vault-token": "hv" + "s." + made(ALNUM, 90),
    "terraform-token": made(ALNUM, 14) + ".atlas" + "v1." + made(ALNUM, 65),
    "grafana-token": "gl" + "sa_" + made(ALNUM, 32) + "_" + made(HEX, 8),
    "newrelic-key": "NR" + "AK-" + made(UPPER, 27),
    "sentry-token": "sn" + "tryu_" + made(HEX, 64),
    "notion-token": "nt" + "n_" + made(ALNUM, 46),
    "linear-key": "lin" + "_api_" + made(ALNUM, 40),
    "figma-token": "fi" + "gd_" + made(ALNUM, 40),
    "llamacloud-key": "ll" + "x-" + made(WORD, 46) + "a7",
    "posthog-key": "ph" + "x_" + made(ALNUM, 52),
    "postman-key": "PM" + "AK-" + made(HEX, 24) + "-" + made(HEX, 34),
    "age-secret-key": "AGE-SEC" + "RET-KEY-1" + made("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),
    "azure-storage-key": "AccountK" + "ey=" + made(BASE64, 86) + "==",
    "azure-sas": "https://a.blob.core.windows.net/c?sv=2024-01-01&si" + "g=" + made(ALNUM, 43)
    + "%3D",
    "json-web-token": encoded('{"alg":"HS256","typ":"JWT"}') + "." + encoded('{"sub":"17"}') + "."
    + made(WORD, 43),
    "private-key": pem(""),
    "private-key rsa": pem("RSA "),
    "private-key openssh": pem("OPENSSH "),
    "url-password": "postgresql://app:" + made(ALNUM, 12) + "@db.to",
    "basic-login": "Basic " + base64.b64encode(b"bob:" + made(ALNUM, 10).encode()).decode(),
    "bearer-token": "Bearer " + made(ALNUM, 40),
}  # fmt: skip

CONTEXTS = {
    "alone": "{}",
    "in a sentence": "Please remember {} for later.",
    "in code": 'client = connect("{}", retries=3)',
    "in escaped text": "first line\\n{}\\nlast line",
    "after other scripts": "это ключ: {}。",
}


@pytest.mark.parametrize("context", CONTEXTS.values(), ids=CONTEXTS.keys())
@pytest.mark.parametrize("name", FORMATS)
def test_a_credential_is_found_by_its_format_wherever_it_stands(name: str, context: str) -> None:
    secret = FORMATS[name]
    masked, rules = mask(context.format(secret))
    assert name.split()[0] in rules
    assert secret[-12:-7] not in masked


ASSIGNMENTS = {
    "quoted": 'password = "{}"',
    "bare": "API_KEY={}",
    "spaced": "access_token = {}",
    "yaml": "db_password: '{}'",
    "json": '{{"client_secret": "{}"}}',
    "json in json": '{{\\"client_secret\\": \\"{}\\"}}',
    "typed": 'api_key: str = "{}"',
    "go": 'var authToken string = "{}"',
    "rocket": "'api_key' => '{}'",
    "walrus": "secret := `{}`",
    "environment": 'os.environ["OPENAI_API_KEY"] = "{}"',
    "call": 'System.setProperty("API_TOKEN", "{}")',
    "option": "deploy --token {} --force",
    "xml": "<apiToken>\n  {}\n</apiToken>",
    "query": "https://api.host/v1?access_token={}&page=2",
    "header": "curl -H 'X-Api-Key: {}' https://api.host",
    "authorization": "Authorization: Token {}",
    "sentence": "my api key is {}.",
    "netrc": "machine api.host login bob password {}",
    "table": "| token | {} |",
    "markdown": "**Password:** {}",
    "chinese": "密码：{}",
    "russian": "пароль: {}",
    "curl": "curl -s -u bob:{} https://api.host",
}


@pytest.mark.parametrize("form", ASSIGNMENTS.values(), ids=ASSIGNMENTS.keys())
@pytest.mark.parametrize("characters", [ALNUM, LOWER, HEX], ids=["letters", "lower case", "hex"])
def test_a_generated_value_behind_a_credentials_name_is_a_secret(
    form: str, characters: str
) -> None:
    value = made(characters, 32)
    masked, rules = mask(form.format(value))
    assert rules
    assert value not in masked
    assert re.sub("⟦[^⟧]*⟧", "{}", masked) == form.format("{}"), "the name stays readable"


BASE32 = string.ascii_uppercase + "234567"
HASH = ALNUM + "./"
LOGIN = base64.b64encode(b"bob:" + made(ALNUM, 12).encode()).decode()
WEB_KEY = f'"crv":"P-256","x":"{made(WORD, 43, 8)}","y":"{made(WORD, 43, 9)}"'

SURROUNDED = {
    "kaggle-key": ('{"username":"ada","key":"%s"}', made(HEX, 32)),
    "kaggle-key in a string": (r'"{\"username\": \"ada\", \"key\": \"%s\"}"', made(HEX, 32)),
    "json-web-key": ('{"kty":"EC",' + WEB_KEY + ',"d":"%s"}', made(WORD, 43)),
    "json-web-key d first": ('{"d": "%s", ' + WEB_KEY + ', "kty": "EC"}', made(WORD, 43)),
    "json-web-key symmetric": ('{"kty":"oct","alg":"HS256","k":"%s"}', made(WORD, 43)),
    "basic-login docker": ('{"auths":{"https://host/v1/":{"auth":"%s"}}}', LOGIN),
    "basic-login npm": ("//registry.host/:_auth=%s", LOGIN),
    "password-hash apr1": ("ada:$apr1$Zt4Q8vXn$%s", made(HASH, 22)),
    "password-hash bcrypt": ("ada:$2y$10$%s", made(HASH, 53)),
    "password-hash md5": ("$1$abcdefgh$%s", made(HASH, 22)),
    "password-hash sha256": ("ada:$5$rounds=5000$salt$%s:19000:0", made(HASH, 43)),
    "password-hash sha512": ("root:$6$Zt4Q8vXn2LsRb7Kd$%s:19000:0:99999", made(HASH, 86)),
    "password-hash yescrypt": ("root:$y$j9T$Zt4Q8vXn2LsRb7KdYw9H./$%s:19000", made(HASH, 43)),
    "password-hash argon2": ("$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$%s", made(BASE64, 43)),
    "password-hash sha1": ("ada:{SHA}%s=", made(BASE64, 27)),
    "url-password example host": ("https://ada:%s@example.com/x.git", made(ALNUM, 14)),
    "nats-seed": ("-----BEGIN USER NKEY SEED-----\n%s\n---", "SU" + made(BASE32, 56)),
    "cloudflare-key global": ('CLOUDFLARE = "%s"'.lower(), made(HEX, 37)),
    "cloudflare-key": ("cloudflare: %s", made(ALNUM, 40)),
    "assigned-secret": ("creds = %s", made(ALNUM, 30)),
    "option-password ssh": ("sshpass -p '%s' ssh host", "Sum" + "mer2024!x"),
    "option-password mysql": ("mysqldump -u root -p%s db > x", made(ALNUM, 14)),
    "assigned-password netrc": ("machine host\n  login ada\n  password %s\n", made(ALNUM, 24)),
}


@pytest.mark.parametrize(("form", "secret"), SURROUNDED.values(), ids=SURROUNDED.keys())
def test_a_credential_is_found_by_what_stands_around_it(
    form: str, secret: str, request: pytest.FixtureRequest
) -> None:
    masked, rules = mask(form % secret)
    assert rules == (request.node.callspec.id.split()[0],)
    assert secret not in masked


STRONG = {
    "quoted, letters and digits": 'password = "sunshi' + 'ne97"',
    "quoted, with symbols": "pwd='Tr0ub4d" + "or&3'",
    "bare, all kinds": "DB_PASS=Xk29!" + "mmPq",
    "said": "the password for the staging db is Sum" + "mer2024!x",
}


@pytest.mark.parametrize("text", STRONG.values(), ids=STRONG.keys())
def test_a_password_that_a_person_chose_is_a_secret(text: str) -> None:
    assert secret_spans(text)


HARMLESS = {
    "placeholder": 'api_key = "YOUR_API_KEY"',
    "crosses": "token: " + "x" * 32,
    "crosses behind a prefix": "gh" + "p_" + "x" * 36,
    "angle brackets": "password=<your password>",
    "variable": "token=${GITHUB_TOKEN}",
    "template": "password: {{ .Values.password }}",
    "shell": "TOKEN=$(cat /run/token)",
    "windows variable": "password=%DB_PASSWORD1%",
    "environment": 'api_key = os.environ["API_KEY"]',
    "getenv": 'token = os.getenv("GITHUB_TOKEN_2")',
    "call": "secret_key = secrets.token_hex(32)",
    "attribute": "password = self.config.password2",
    "changeme": 'password = "changeme123"',
    "example of the documentation": "AKIA" + "IOSFODNN7" + "EXAMPLE",
    "default login": "postgresql://user:password@localhost/db",
    "login of a manual": "https://user:passw0rd1@example.com and http://bob:hunter2@example.org",
    "public web key": '{"kty":"EC",' + WEB_KEY + ',"kid":"' + made(WORD, 43) + '"}',
    "username and a short key": '{"username":"ada","key":"name"}',
    "encoded words": '"auth": "' + base64.b64encode(b"some words without one").decode() + '"',
    "cloudflare in prose": "cloudflare: see workers-and-pages-documentation-for-everyone",
    "options of mysql": "mysql -h db -P 3306 -proxy-protocol-networks=x -p mydatabase",
    "money": "It costs $1$ or $2, $5 or $6$ each, $y$ and $apr1$ salt$ only",
    "hash that is cut": "$2y$10$" + made(HASH, 20) + "...",
    "same name and password": "amqp://rabbit:rabbit@queue",
    "address of a token": "token_url = https://host/oauth2/v1/token/4f5a9c1b2d3e",
    "name of a secret": 'secret_name = "prod-db-a1b2c3d4e5"',
    "public": "public_token = " + made(ALNUM, 32),
    "digest": "sha256:" + made(HEX, 64),
    "commit": "see commit " + made(HEX, 40),
    "uuid": "request " + uuid_like(),
    "rule in prose": "Password: at least 8 characters, 1 digit",
    "types": 'fields = ["SourceToken", "AwsSigV4Config2b"]',
    "list": f'["token", "{made(HEX, 32)}"]',
    "annotation": "tokens: CohereV2ChatUsageTokens",
    "cut off": "export TOKEN=" + made(ALNUM, 20) + "...",
    "public key": "-----BEGIN PUBLIC KEY-----\n" + made(BASE64, 64) + "\n-----END PUBLIC KEY-----",
    "header in code": 'if "-----BEGIN RSA PRIVATE KEY-----" in text:\n'
    "    serialization.BestAvailableEncryption2026(password)",
    "image": "data:image/png;base64," + made(BASE64, 400),
    "dna": "token CTTCATAGGGTTCACGCTGTGTAAT-ACG--CCTGAGGC",
    "max_tokens": "max_tokens=100000, stop=None",
    "keyboard": "key: Ctrl+Shift+K7 opens the panel",
    "clouds and skies": "task-based risk-" + "assessment-of-the-disk",
    "masked": "password = ⟦secret: assigned-password⟧",
}


@pytest.mark.parametrize("text", HARMLESS.values(), ids=HARMLESS.keys())
def test_what_only_talks_about_a_secret_is_clean(text: str) -> None:
    assert secret_spans(text) == ()


def test_zero_width_characters_inside_do_not_hide_a_credential() -> None:
    secret = "gh" + "p_" + made(ALNUM, 36)
    text = f"see {secret[:9]}\u200b{secret[9:20]}\u2060{secret[20:]} here"
    assert mask(text)[0] == "see ⟦secret: github-token⟧ here"


def test_terminal_colours_around_do_not_hide_a_credential() -> None:
    assert mask(f"\x1b[93m{FORMATS['npm-token']}\x1b[0m")[1] == ("npm-token",)


def test_one_layer_of_base64_does_not_hide_a_credential() -> None:
    hidden = base64.b64encode(f"token for ci: {FORMATS['npm-token']}".encode()).decode()
    assert mask(f"run {hidden} now") == ("run ⟦secret: npm-token⟧ now", ("npm-token",))


def test_a_kubernetes_secret_is_found_by_its_data() -> None:
    value = base64.b64encode(b"any words will do").decode()
    manifest = f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  key: {value}\n"
    assert mask(manifest)[1] == ("kubernetes-secret",)
    assert mask(manifest.replace("Secret", "ConfigMap"))[1] == ()


def test_the_more_specific_rule_names_a_secret_that_two_rules_find() -> None:
    assert mask(f'token = "{FORMATS["npm-token"]}"')[1] == ("npm-token",)


def test_a_private_key_is_masked_to_its_end() -> None:
    assert mask(f"a\n{pem('EC ')}\nb")[0] == "a\n⟦secret: private-key⟧\nb"


@pytest.mark.parametrize(
    "between",
    [
        "\n",
        "\\n",
        '\\n"\n    "',
        "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,AB12\n\n",
        "\n#6 0.245 ",
    ],
    ids=["line", "escaped", "literal in pieces", "header", "log"],
)
def test_a_private_key_is_found_in_every_wrapping(between: str) -> None:
    header = "-----BEGIN " + "RSA PRIVATE KEY-----"
    assert mask(header + between + made(BASE64, 64))[1] == ("private-key",)


def test_a_finding_holds_a_rule_and_a_place_and_no_text() -> None:
    secret = FORMATS["npm-token"]
    screened = screen(f"see {secret}")
    assert isinstance(screened, Findings)
    assert secret[4:10] not in repr(screened)
    assert [(f.kind, f.start, f.end) for f in screened.findings] == [("secret", 4, 4 + len(secret))]


def _unbounded(tree: Any) -> bool:
    """Whether a parsed expression holds a repeat without an upper bound."""
    for code, argument in tree:
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            if argument[1] == codes.MAXREPEAT or _unbounded(argument[2]):
                return True
        elif isinstance(argument, tuple | list):
            parts = [part for part in argument if isinstance(part, parser.SubPattern)]
            parts += [b for part in argument if isinstance(part, list) for b in part
                      if isinstance(b, parser.SubPattern)]  # fmt: skip
            if any(_unbounded(part) for part in parts):
                return True
    return False


@pytest.mark.parametrize(
    "pattern",
    [
        *dict.fromkeys(
            rule.pattern for rule in (*secret_rules.TOKEN_RULES, *secret_contexts.CONTEXT_RULES)
        ),
        secret_assignments._GIVEN,
        secret_assignments._BEARER,
        secret_assignments._BASIC,
    ],
)
def test_no_rule_repeats_without_bound(pattern: str) -> None:
    assert not _unbounded(parser.parse(pattern, re.VERBOSE if "\n" in pattern else 0))


LITERALS = [
    rule.literal
    for rule in (*secret_rules.TOKEN_RULES, *secret_contexts.CONTEXT_RULES)
    if rule.name != "aws-bedrock-key"  # its literal is a beginning that is never written alone
]


@pytest.mark.parametrize("literal", LITERALS)
def test_a_rules_literal_alone_is_clean(literal: str) -> None:
    assert secret_spans(f"see {literal} and {literal}") == ()


WORST = [
    "token=aB3", "AccountKey=", "xo" + "xb-1-", "curl -u a:b ", "://a:", "-----BEGIN A ", "eyJ.",
    "pass for a ", "A1", "sk-" + "a1-", "%3Dgh" + "p_", "kind: Secret\ndata:\n a: YWJj\n",
]  # fmt: skip


@pytest.mark.parametrize("unit", WORST)
def test_text_made_of_one_rules_worst_case_is_screened_to_its_end(unit: str) -> None:
    secret = FORMATS["npm-token"]
    assert "npm-token" in mask(unit * (60_000 // len(unit)) + "\n" + secret)[1]
