"""The formats of credentials that are told by their own letters: one row per rule.

1. A rule is a name, a literal that every such credential holds, and what stands around it. Text
   without the literal costs one substring search, and text without long words not even that.
2. What stands around is bounded, or ends at the first character outside its class; and no
   credential starts inside a run of its own characters: time is linear in the text.
3. Names stay once released: masked transcripts carry them.

Source: the providers' own documentation of their formats.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

__all__ = ["MIN_TOKEN", "TOKEN_RULES", "SecretCheck", "SecretRule"]

MIN_TOKEN = 16
"""Characters without white space that every credential of `TOKEN_RULES` has."""

SecretCheck = Literal["generated", "chosen", "strong", "json-token", "none"]
"""How the matched secret is told from a placeholder: it would be random, a password that a person
chose, one of three kinds of characters or that a generator made, a token whose first part is
encoded JSON, or the match alone is enough."""


@dataclass(frozen=True, slots=True)
class SecretRule:
    """One credential format. `pattern` (ASCII classes) is matched where `literal` stands.

    The pattern's group `secret`, if it has one, is the secret; else all of the match is.
    """

    name: str
    literal: str
    pattern: str
    check: SecretCheck = "generated"


# Not inside a longer word, but `\n`, `\t` of an escaped string and `%3D` of a URL end a word.
_START = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"
_END = r"(?![A-Za-z0-9_])"
_UUID = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"

# name, literals, what follows one of them
_PREFIXED = (
    # Clouds and hosting
    ("aws-access-key", "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}"),
    ("aws-bedrock-key", "ABSKQmVkcm9ja0FQSUtleS", r"[A-Za-z0-9+/]{80,400}={0,2}"),
    ("aws-bedrock-key", "bedrock-api-key-", r"YmVkcm9jay5hbWF6b25hd3MuY29t[\w+/=%-]{0,4000}+"),
    ("aws-mws-key", "amzn.mws.", r"[0-9a-z]{8}(?:-[0-9a-z]{4}){3}-[0-9a-z]{12}"),
    ("google-api-key", "AIza", r"[\w-]{35}(?!-)"),
    ("google-oauth-secret", "GOCSPX-", r"[\w-]{28}(?!-)"),
    ("google-oauth-token", "ya29.", r"[\w-]{30,2000}+"),
    ("google-refresh-token", "1//0", r"[\w-]{40,200}+"),
    ("alibaba-access-key", "LTAI", r"(?=[A-Za-z]{0,20}[0-9])[A-Za-z0-9]{12,30}"),
    ("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"[a-f0-9]{64}"),
    ("heroku-key", "HRKU-", rf"(?:{_UUID}|[\w-]{{58,62}}+)"),
    ("flyio-token", "fo1_", r"[\w-]{43}(?!-)"),
    ("flyio-token", "fm1r_ fm1a_ fm2_", r"[A-Za-z0-9+/]{80,2000}+={0,3}"),
    ("clickhouse-key", "4b1d", r"[A-Za-z0-9]{38}"),
    ("netlify-token", "nfp_", r"[A-Za-z0-9]{36}"),
    ("vercel-token", "vcp_ vck_ vci_ vca_", r"[A-Za-z0-9]{24,80}"),
    ("render-key", "rnd_", r"[A-Za-z0-9]{28,40}"),
    ("scalingo-token", "tk-us-", r"[\w-]{48}(?!-)"),
    ("yandex-token", "t1.", r"[\w-]{4,400}+={0,2}\.[\w-]{86}={0,2}"),
    ("yandex-key", "AQVN", r"[\w-]{35,38}(?!-)"),
    ("yandex-key", "YC", r"(?=[A-Za-z_-]{0,38}[0-9])[\w-]{38}(?!-)"),
    ("tencent-key", "AKID", r"[A-Za-z0-9]{32}"),
    ("cloudflare-origin-key", "v1.0-", r"[a-f0-9]{24}-[a-f0-9]{146}"),
    ("cloudflare-token", "cfat_ cfut_ cfk_", r"[A-Za-z0-9]{40,60}"),
    ("openshift-token", "sha256~", r"[\w-]{43}(?!-)"),
    ("pulumi-token", "pul-", r"[a-f0-9]{40}"),
    ("vault-token", "hvs. hvb. hvr.", r"[\w-]{24,300}+"),
    ("doppler-token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"[A-Za-z0-9._-]{40,64}+"),
    ("infracost-key", "ico-", r"[A-Za-z0-9]{32}"),
    ("prefect-key", "pnu_ pnb_", r"[A-Za-z0-9]{36}"),
    ("harness-key", "pat. sat.", r"[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}"),
    ("databricks-token", "dapi dose", r"[a-f0-9]{32}(?:-\d)?"),
    ("dynatrace-token", "dt0c01. dt0s16.", r"[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}"),
    ("newrelic-key", "NRAK-", r"[A-Z0-9]{27}"),
    ("newrelic-key", "NRJS- NRBR- NRRA-", r"[a-f0-9]{19,42}"),
    ("newrelic-key", "NRII- NRIQ-", r"[\w-]{30,34}(?!-)"),
    ("grafana-token", "eyJrIjoi", r"[A-Za-z0-9+/]{60,400}+={0,3}"),
    ("grafana-token", "glc_ glsa_", r"[\w+/]{32,400}+={0,3}"),
    ("sentry-token", "sntrys_eyJ", r"[A-Za-z0-9+/=_-]{80,800}+"),
    ("sentry-token", "sntryu_", r"[a-f0-9]{64}"),
    ("planetscale-token", "pscale_tkn_ pscale_oauth_ pscale_pw_", r"[\w=.-]{32,64}"),
    ("supabase-key", "sbp_", r"[a-f0-9]{40}"),
    ("supabase-key", "sb_secret_", r"[\w-]{24,60}"),
    ("neon-key", "napi_", r"[a-z0-9]{60,70}"),
    # Code hosting, packages, build
    ("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{36,255}"),
    ("github-token", "github_pat_", r"[A-Za-z0-9_]{22,255}"),
    (
        "gitlab-token",
        "glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- glffct-",
        r"[\w-]{18,300}+(?:\.[\w-]{2,20}+){0,2}",
    ),
    ("gitlab-token", "GR1348941", r"[\w-]{20}(?!-)"),
    ("bitbucket-token", "ATBB", r"[A-Za-z0-9]{28,36}"),
    ("atlassian-token", "ATATT3 ATCTT3", r"[\w=-]{100,400}+"),
    ("sourcegraph-token", "sgp_local_ sgp_", r"(?:[A-Fa-f0-9]{16}_)?[a-fA-F0-9]{40}"),
    ("npm-token", "npm_", r"[A-Za-z0-9]{36}"),
    ("pypi-token", "pypi-AgEIcHlwaS5vcmc pypi-AgENdGVzdC5weXBpLm9yZw", r"[\w-]{50,1000}+"),
    ("rubygems-key", "rubygems_", r"[a-f0-9]{48}"),
    ("crates-token", "cio", r"(?=[A-Za-z]{0,31}[0-9])[A-Za-z0-9]{32}"),
    ("clojars-token", "CLOJARS_", r"[a-z0-9]{60}"),
    ("nuget-key", "oy2", r"(?=[a-z]{0,42}[0-9])[a-z0-9]{43}"),
    ("docker-token", "dckr_pat_ dckr_oat_", r"[\w-]{27,40}(?!-)"),
    ("jfrog-key", "AKCp", r"[A-Za-z0-9]{69}"),
    ("jfrog-token", "cmVmdGtu", r"[A-Za-z0-9]{56}"),
    ("sonar-token", "squ_ sqp_ sqa_", r"[a-f0-9]{40}"),
    ("octopus-key", "API-", r"(?=[A-Z]{0,25}[0-9])[A-Z0-9]{26}"),
    ("circleci-token", "CCIPAT_ CCIPRJ_", r"[A-Za-z0-9]{15,30}_[a-f0-9]{40}"),
    ("buildkite-token", "bkua_", r"[a-f0-9]{40}"),
    # Models
    ("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-None-", r"[\w-]{24,300}+"),
    ("anthropic-key", "sk-ant-", r"[a-z]{2,8}\d{2}-[\w-]{80,200}+"),
    ("openrouter-key", "sk-or-v1-", r"[a-f0-9]{64}"),
    ("langfuse-key", "sk-lf-", _UUID),
    ("openai-key", "sk-", r"(?=[A-Za-z]{0,47}[0-9])[A-Za-z0-9]{32,64}"),
    ("google-ai-key", "AQ.Ab", r"[\w-]{40,100}+"),
    ("huggingface-token", "hf_ api_org_", r"(?![A-Z0-9]{34}|[a-z0-9]{34})[A-Za-z0-9]{34}"),
    ("groq-key", "gsk_", r"[A-Za-z0-9]{48,56}"),
    ("xai-key", "xai-", r"[A-Za-z0-9]{70,90}"),
    ("perplexity-key", "pplx-", r"[A-Za-z0-9]{48}"),
    ("replicate-token", "r8_", r"[A-Za-z0-9]{37}"),
    ("together-key", "tgp_v1_", r"[\w-]{43}(?!-)"),
    ("fireworks-key", "fw_", r"(?=[A-Za-z]{0,23}[0-9])[A-Za-z0-9]{24}"),
    ("cerebras-key", "csk-", r"[a-z0-9]{48}"),
    ("nvidia-key", "nvapi-", r"[\w-]{60,80}+"),
    ("pinecone-key", "pcsk_", r"[\w]{60,80}"),
    ("langsmith-key", "lsv2_pt_ lsv2_sk_", r"[a-f0-9]{32}_[a-f0-9]{10}"),
    ("tavily-key", "tvly-", r"(?:dev-|prod-)?[A-Za-z0-9]{28,40}"),
    ("llamacloud-key", "llx-", r"[\w-]{48}(?!-)"),
    ("jina-key", "jina_", r"[A-Za-z0-9_-]{55,70}+"),
    ("elevenlabs-key", "sk_", r"[a-f0-9]{48}"),
    ("firecrawl-key", "fc-", r"[a-f0-9]{32}"),
    ("e2b-key", "e2b_", r"[a-f0-9]{40}"),
    ("wundergraph-key", "cosmo_", r"[a-f0-9]{32}"),
    # Money
    ("stripe-key", "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_", r"[A-Za-z0-9]{10,247}"),
    ("stripe-webhook-secret", "whsec_", r"[A-Za-z0-9+/]{32,64}={0,2}"),
    ("square-token", "sq0atp- sq0csp- sq0idp-", r"[\w-]{22,60}+"),
    ("square-token", "EAAA", r"[\w+=-]{60}(?!-)"),
    ("paypal-token", "access_token$production$", r"[0-9a-z]{16}\$[0-9a-f]{32}"),
    ("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"[a-fA-F0-9]{32}"),
    ("plaid-token", "access-sandbox- access-development- access-production-", _UUID),
    ("flutterwave-key", "FLWSECK- FLWSECK_TEST- FLWPUBK_TEST-", r"[a-h0-9]{12,32}(?:-X)?"),
    ("razorpay-key", "rzp_live_ rzp_test_", r"[A-Za-z0-9]{14}"),
    ("easypost-key", "EZAK EZTK", r"[A-Za-z0-9]{54}"),
    ("duffel-token", "duffel_test_ duffel_live_", r"[\w=-]{43}"),
    ("shippo-token", "shippo_live_ shippo_test_", r"[a-f0-9]{40}"),
    ("settlemint-token", "sm_pat_ sm_aat_ sm_sat_", r"[A-Za-z0-9]{16}"),
    # Messages and mail
    ("slack-token", "xapp-", r"\d-[A-Z0-9]{9,14}-\d{10,14}-[a-z0-9]{32,80}"),
    ("slack-token", "xoxe.xoxp- xoxe.xoxb- xoxe-", r"\d{1,13}-[A-Za-z0-9-]{40,250}+"),
    (
        "slack-token",
        "xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxc- xoxd-",
        r"(?:\d-)?(?:(?:\d{6,14}-){1,3}[A-Za-z0-9]{8,100}+|[A-Za-z0-9%]{12,250}+)(?!-)",
    ),
    ("slack-webhook", "hooks.slack.com/services/", r"T?[A-Za-z0-9+/]{30,90}+"),
    (
        "slack-webhook",
        "hooks.slack.com/workflows/ hooks.slack.com/triggers/",
        r"[A-Za-z0-9+/]{30,90}+",
    ),
    ("zapier-webhook", "hooks.zapier.com/hooks/catch/", r"\d{4,12}/[a-z0-9]{6,20}"),
    ("twilio-key", "SK", r"[0-9a-f]{32}"),
    ("sendgrid-key", "SG.", r"[\w-]{16,24}\.[\w-]{38,50}(?!-)"),
    ("brevo-key", "xkeysib- xsmtpsib-", r"[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    ("mailgun-key", "key-", r"[0-9a-f]{32}"),
    ("resend-key", "re_", r"(?=[A-Za-z]{0,8}[0-9])[A-Za-z0-9]{8}_[A-Za-z0-9]{24}"),
    ("mandrill-key", "md-", r"(?=[A-Za-z_-]{0,21}[0-9])[\w-]{22}(?!-)"),
    ("facebook-token", "EAAM EAAC", r"[A-Za-z0-9]{80,400}"),
    ("instagram-token", "IGQV IGAA", r"[\w-]{100,400}+"),
    ("twitter-bearer-token", "AAAAAAAAAAAAAAAAAAAAAA", r"[A-Za-z0-9%]{80,110}"),
    # Work
    ("notion-token", "ntn_", r"[A-Za-z0-9]{46}"),
    ("notion-token", "secret_", r"(?=[A-Za-z]{0,42}[0-9])[A-Za-z0-9]{43}"),
    ("linear-key", "lin_api_ lin_oauth_", r"[A-Za-z0-9]{40,64}"),
    ("figma-token", "figd_", r"[\w-]{38,42}(?!-)"),
    ("airtable-token", "pat", r"[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    ("postman-key", "PMAK-", r"[a-f0-9]{24}-[a-f0-9]{34}"),
    ("typeform-token", "tfp_", r"[\w.=-]{57,61}"),
    ("contentful-token", "CFPAT-", r"[\w-]{43}(?!-)"),
    ("readme-key", "rdme_", r"[a-z0-9]{70}"),
    ("frameio-token", "fio-u-", r"[\w=-]{64}"),
    ("posthog-key", "phs_ phr_ pha_ phx_", r"[A-Za-z0-9]{40,64}"),
    ("adafruit-key", "aio_", r"[A-Za-z0-9]{28}"),
    ("dropbox-token", "sl.", r"(?:u\.)?[\w-]{120,1500}+"),
    ("mapbox-token", "sk.eyJ", r"[\w-]{40,200}+\.[\w-]{20,40}"),
    ("1password-token", "ops_eyJ", r"[A-Za-z0-9+/_-]{200,2000}+={0,3}"),
    ("1password-secret-key", "A3-", r"[A-Z0-9]{6}(?:-[A-Z0-9]{5,6}){4,5}"),
    ("adobe-client-secret", "p8e-", r"[a-zA-Z0-9]{32}"),
    ("intra42-secret", "s-s4t2ud- s-s4t2af-", r"[a-f0-9]{64}"),
    ("defined-key", "dnkey-", r"[\w=-]{26}-[\w=-]{52}"),
    ("tailscale-key", "tskey-", r"[a-z]{3,8}-[A-Za-z0-9]{8,20}-[A-Za-z0-9]{20,40}"),
)

# name, what precedes the literal, literal, what follows it
_INNER = (
    ("terraform-token", r"(?<=[A-Za-z0-9]{14})", ".atlasv1.", r"[\w=-]{60,70}"),
    ("mailchimp-key", r"(?<=[0-9A-Za-z]{32})", "-us", r"\d{1,2}"),
    ("maxmind-key", r"(?<=[A-Za-z0-9]{6}_[A-Za-z0-9]{29})", "_mmk", ""),
    ("newrelic-key", r"(?<=[a-f0-9]{36})", "NRAL", ""),
    ("telegram-token", r"(?<=[0-9]{8})", ":AA", r"[\w-]{32,33}(?!-)"),
    ("facebook-app-token", r"(?<=[0-9]{15})", "|", r"[\w-]{26,27}(?!-)"),
    ("azure-client-secret", r"(?<=[\w~.-]{3}\d)", "Q~", r"[\w~.-]{31,34}"),
    ("azure-storage-key", r"(?<=[A-Za-z0-9+/]{76})", "+ASt", r"[A-Za-z0-9+/]{6}=="),
    ("azure-devops-token", r"(?<=[A-Za-z0-9]{76})", "AZDO", r"[A-Za-z0-9]{4}"),
    (
        "discord-webhook",
        r"(?:(?<=discord\.com)|(?<=discordapp\.com))",
        "/api/webhooks/",
        r"\d{17,20}/[\w-]{60,80}+",
    ),
    ("teams-webhook", "", ".webhook.office.com/webhookb2/", r"[\w@-]{70,80}/[\w/-]{40,120}+"),
    (
        "discord-token",
        r"(?:(?<=[MNO][\w-]{22})|(?<=[MNO][\w-]{23})|(?<=[MNO][\w-]{24})|(?<=[MNO][\w-]{25}))",
        ".",
        r"[\w-]{6}\.[\w-]{27,40}",
    ),
)

TOKEN_RULES = (
    *(
        SecretRule(name, literal, f"{_START}{re.escape(literal)}{follows}{_END}")
        for name, literals, follows in _PREFIXED
        for literal in literals.split()
    ),
    *(
        SecretRule(name, literal, f"{precedes}{re.escape(literal)}{follows}{_END}")
        for name, precedes, literal, follows in _INNER
    ),
)
"""Every such rule; where two match one place, the earlier names it."""
