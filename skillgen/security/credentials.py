"""Finds credentials in text and redacts them.

There are two ways: the forms that issuers document for their keys and tokens, and values that look random after a name
that says that they are secret. Keys of documentation (AWS's `…EXAMPLE`, Stripe's `sk_test_…`) are redacted too: they
look like real keys, and no reader needs them.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache, partial
from urllib.parse import unquote

_FORMS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("private key", r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
     r"(?:(?:[A-Za-z0-9+/=\s\\\\:,.]|-(?!----)){40,10000}?-----END [A-Z0-9 ]{0,40}KEY(?: BLOCK)?-----"
     r"|[A-Za-z0-9+/=\s\\\\]{40,10000})", ("-----BEGIN",)),
    ("AWS access key id", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b", ("AKIA", "ASIA", "ABIA", "ACCA")),
    ("GitHub token", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})\b",
     ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_")),
    ("GitLab token", r"\bgl(?:pat|ptt|dt|rt|cbt|ft|soat|agent|imt)-[A-Za-z0-9_-]{20,}|\bGR1348941[A-Za-z0-9_-]{20,}",
     ("glpat-", "glptt-", "gldt-", "glrt-", "glcbt-", "glft-", "glsoat-", "glagent-", "glimt-", "GR1348941")),
    ("Slack token", r"\bxox[abceoprs](?:\.xox[bp])?-(?:[0-9a-zA-Z]+-){0,4}[0-9A-Za-z]{8,}|"
     r"\bxapp-\d-[A-Z0-9]+-\d+-[a-z0-9]+",
     ("xox", "xapp-")),
    ("Slack webhook", r"https://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/_-]{20,}",
     ("hooks.slack.com/",)),
    ("Discord webhook", r"https://(?:\w+\.)?discord(?:app)?\.com/api/webhooks/\d{10,}/[\w-]{40,}", ("/api/webhooks/",)),
    ("Stripe key", r"\b(?:sk|rk|pk)_(?:test|live|prod)_[A-Za-z0-9]{10,}|\bwhsec_[A-Za-z0-9+/=]{24,}",
     ("sk_test_", "sk_live_", "rk_", "pk_test_", "pk_live_", "sk_prod_", "whsec_")),
    ("OpenAI key", r"\bsk-(?:proj-|svcacct-|admin-|None-)?[A-Za-z0-9_-]{20,}", ("sk-",)),
    ("Anthropic key", r"\bsk-ant-[A-Za-z0-9_-]{20,}", ("sk-ant-",)),
    ("Google API key", r"\bAIza[0-9A-Za-z_-]{35}", ("AIza",)),
    ("Google OAuth token", r"\bya29\.[0-9A-Za-z_-]{20,}|\bGOCSPX-[0-9A-Za-z_-]{20,}|\b1//0[0-9A-Za-z_-]{30,}",
     ("ya29.", "GOCSPX-", "1//0")),
    ("JSON web token", r"\beyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]*)?", ("eyJ",)),
    ("npm token", r"\bnpm_[A-Za-z0-9]{36}\b", ("npm_",)),
    ("PyPI token", r"\bpypi-AgE[A-Za-z0-9_-]{50,}", ("pypi-AgE",)),
    ("SendGrid key", r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}", ("SG.",)),
    ("Mailgun key", r"\bkey-[0-9a-f]{32}\b", ("key-",)),
    ("Mailchimp key", r"\b[0-9a-f]{32}-us\d{1,2}\b", ("-us",)),
    ("Twilio key", r"\b(?:SK|AC)[0-9a-f]{32}\b", ("SK", "AC")),
    ("Square token", r"\b(?:EAAA[A-Za-z0-9_-]{60}|sq0(?:atp|csp)-[A-Za-z0-9_-]{22,43})", ("EAAA", "sq0")),
    ("Shopify token", r"\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}\b", ("shpat_", "shpca_", "shppa_", "shpss_")),
    ("DigitalOcean token", r"\bdo[opr]_v1_[a-f0-9]{64}\b", ("doo_v1_", "dop_v1_", "dor_v1_")),
    ("Hugging Face token", r"\b(?:hf|api_org)_[A-Za-z0-9]{34,}\b", ("hf_", "api_org_")),
    ("Atlassian token", r"\bAT(?:ATT|CTT)3[A-Za-z0-9_=-]{50,}|\bATBB[A-Za-z0-9]{32}\b", ("ATATT3", "ATCTT3", "ATBB")),
    ("Databricks token", r"\bdapi[0-9a-f]{32}(?:-\d)?\b", ("dapi",)),
    ("Linear key", r"\blin_(?:api|oauth)_[A-Za-z0-9]{32,}", ("lin_api_", "lin_oauth_")),
    ("Notion token", r"\bntn_[A-Za-z0-9]{40,}|\bsecret_[A-Za-z0-9]{43}\b", ("ntn_", "secret_")),
    ("Telegram bot token", r"\b\d{8,10}:AA[A-Za-z0-9_-]{33}\b", (":AA",)),
    ("Vault token", r"\bhv[sbr]\.[A-Za-z0-9_-]{24,}", ("hvs.", "hvb.", "hvr.")),
    ("Azure storage key", r"(?i:AccountKey|SharedAccessKey)=[A-Za-z0-9+/]{40,}={0,2}", ("ccountKey=", "ccessKey=")),
    ("age key", r"\bAGE-SECRET-KEY-1[0-9A-Z]{50,}", ("AGE-SECRET-KEY-1",)),
    ("Docker token", r"\bdckr_(?:pat|oat)_[A-Za-z0-9_-]{24,}", ("dckr_",)),
    ("Terraform token", r"\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,}", (".atlasv1.",)),
    ("1Password token", r"\bops_eyJ[A-Za-z0-9+/=_-]{60,}", ("ops_eyJ",)),
    ("Grafana token", r"\bgl(?:c_[A-Za-z0-9+/=]{32,}|sa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8})", ("glc_", "glsa_")),
    ("Sentry token", r"\bsntry[su]_[A-Za-z0-9+/=_]{40,}", ("sntrys_", "sntryu_")),
    ("Postman key", r"\bPMAK-[a-f0-9]{24}-[a-f0-9]{34}", ("PMAK-",)),
    ("Pulumi token", r"\bpul-[a-f0-9]{40}\b", ("pul-",)),
    ("PlanetScale secret", r"\bpscale_(?:tkn|pw|oauth)_[\w=.-]{32,64}", ("pscale_",)),
    ("Fly.io token", r"\b(?:fo1_[\w-]{43}|fm[12][ar]?_[A-Za-z0-9+/]{60,})", ("fo1_", "fm1", "fm2_")),
    ("New Relic key", r"\bNR(?:AK|JS|II|RA)-[A-Za-z0-9-]{19,42}", ("NRAK-", "NRJS-", "NRII-", "NRRA-")),
    ("Dynatrace token", r"\bdt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}", ("dt0",)),
    ("Doppler token", r"\bdp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{40,}",
     ("dp.pt.", "dp.st.", "dp.ct.", "dp.s", "dp.audit.")),
    ("key of a model's provider", r"\b(?:gsk_[A-Za-z0-9]{40,}|xai-[A-Za-z0-9]{60,}|pplx-[A-Za-z0-9]{40,}|"
     r"r8_[A-Za-z0-9]{36,}|lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}|ABSK[A-Za-z0-9+/]{100,}|nvapi-[\w-]{60,}|"
     r"pcsk_\w{50,}|tvly-[\w-]{24,}|csk-[a-z0-9]{40,}|jina_[\w-]{50,}|llx-[A-Za-z0-9]{40,}|e2b_[a-f0-9]{40}|"
     r"sk_[a-f0-9]{48}|tgp_v1_[\w-]{40,}|fw_[A-Za-z0-9]{20,}|vck_[A-Za-z0-9]{40,}|ctx7sk-[a-f0-9-]{36}|fc-[a-f0-9]{32}|"
     r"BSA[A-Za-z0-9_-]{28})",
     ("gsk_", "xai-", "pplx-", "r8_", "lsv2_", "ABSK", "nvapi-", "pcsk_", "tvly-", "csk-", "jina_", "llx-", "e2b_",
      "sk_", "tgp_v1_", "fw_", "vck_", "ctx7sk-", "fc-", "BSA")),
    ("Figma token", r"\bfig[dou]_?[r]?_[\w-]{36,}", ("figd_", "figo", "figu")),
    ("Supabase token", r"\bsbp_(?:oauth_)?[a-f0-9]{40}|\bsb_secret_[\w-]{20,}", ("sbp_", "sb_secret_")),
    ("Tailscale key", r"\btskey-[a-z]{3,10}-[A-Za-z0-9-]{16,}", ("tskey-",)),
    ("RubyGems key", r"\brubygems_[a-f0-9]{48}", ("rubygems_",)),
    ("NuGet key", r"\boy2[a-z0-9]{43}\b", ("oy2",)),
    ("Alibaba access key id", r"\bLTAI[A-Za-z0-9]{16,24}\b", ("LTAI",)),
    ("Meta token", r"\bEAA(?:M|C)[A-Za-z0-9]{90,}", ("EAAM", "EAAC")),
    ("Brevo key", r"\bxkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}", ("xkeysib-",)),
    ("SonarQube token", r"\bsq[apu]_[a-f0-9]{40}", ("sqa_", "sqp_", "squ_")),
    ("Sourcegraph token", r"\bsgp_(?:[a-f0-9]{16}_|local_)?[a-f0-9]{40}", ("sgp_",)),
    ("OpenShift token", r"\bsha256~[\w-]{43}", ("sha256~",)),
    ("Heroku key", r"\bHRKU-AA[\w-]{58}", ("HRKU-AA",)),
    ("Airtable token", r"\bpat[A-Za-z0-9]{14}\.[a-f0-9]{64}", ("pat",)),
    ("HubSpot token", r"\bpat-(?:na|eu)\d-[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}", ("pat-na", "pat-eu")),
    ("Contentful token", r"\bCFPAT-[\w-]{43}", ("CFPAT-",)),
    ("Artifactory token", r"\b(?:AKCp[A-Za-z0-9]{69}|cmVmd[A-Za-z0-9]{59})\b", ("AKCp", "cmVmd")),
    ("Cloudflare origin key", r"\bv1\.0-[a-f0-9]{24}-[a-f0-9]{146}", ("v1.0-",)),
    ("Azure AD secret", r"(?<![\w~.-])[\w~.]{3}\dQ~[\w~.-]{31,34}", ("Q~",)),
    ("Teams webhook", r"https://[\w-]+\.webhook\.office\.com/webhookb2/[\w@/-]{60,}", (".webhook.office.com/",)),
    ("Typeform token", r"\btfp_[\w.-]{59}", ("tfp_",)),
    ("Shippo token", r"\bshippo_(?:live|test)_[a-f0-9]{40}", ("shippo_",)),
    ("EasyPost key", r"\bEZ[AT]K[A-Za-z0-9]{54}", ("EZAK", "EZTK")),
    ("Flutterwave key", r"\bFLW(?:PUB|SEC)K(?:_TEST)?-[a-h0-9]{12,32}(?:-X)?", ("FLWPUBK", "FLWSECK")),
    ("Yandex key", r"\bAQVN[\w-]{35,38}", ("AQVN",)),
    ("ReadMe key", r"\brdme_[a-z0-9]{70}", ("rdme_",)),
    ("Prefect key", r"\bpn[ub]_[A-Za-z0-9]{36}\b", ("pnu_", "pnb_")),
    ("Clojars token", r"\bCLOJARS_[a-z0-9]{60}", ("CLOJARS_",)),
    ("Infracost key", r"\bico-[A-Za-z0-9]{32}\b", ("ico-",)),
    ("Octopus key", r"\bAPI-[A-Z0-9]{26,32}\b", ("API-",)),
    ("Dropbox token", r"\bsl\.[\w=-]{120,}", ("sl.",)),
    ("Harness token", r"\b[ps]at\.[\w-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}\b", ("pat.", "sat.")),
    ("AWS session token", r"\b(?:IQoJb3JpZ2lu|F[wQ]oGZXIvYXdz)[A-Za-z0-9+/%]{50,}={0,2}",
     ("IQoJb3JpZ2lu", "FwoGZXIvYXdz", "FQoGZXIvYXdz")),
    ("Azure key", r"\b[A-Za-z0-9]{52}JQQJ9[9D][A-Za-z0-9]{16,40}\b|\b[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}\b",
     ("JQQJ9", "AZDO")),
    ("Tencent or Volcengine key id", r"\b(?:AKID[A-Za-z0-9]{32}|AKLT[\w-]{40,})\b", ("AKID", "AKLT")),
    ("Discord bot token", r"\b[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,38}", ("M", "N", "O")),
    ("Mapbox token", r"\b[sp]k\.eyJ[\w-]{20,}\.[\w-]{16,}", ("k.eyJ",)),
    ("Trello token", r"\bATTA[a-f0-9]{64}", ("ATTA",)),
    ("Zoho token", r"\b1000\.[a-f0-9]{32}\.[a-f0-9]{32}\b", ("1000.",)),
    ("PayPal token", r"\baccess_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}", ("access_token$",)),
    ("Razorpay key", r"\brzp_(?:live|test)_[A-Za-z0-9]{14,}", ("rzp_",)),
    ("key of a service", r"\b(?:CCI(?:PAT|PRJ)_\w{40,}|bk[a-z]{2}_[a-f0-9]{40}|nfp_\w{36,}|rnd_[A-Za-z0-9]{28,}|"
     r"napi_[a-z0-9]{60,}|ph[xs]_[A-Za-z0-9]{40,}|c[ks]_[a-f0-9]{40}|mlsn\.[a-f0-9]{64}|apify_api_[A-Za-z0-9]{36}|"
     r"RGAPI-[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}|xa[ap]t-[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}|"
     r"p8e-[a-zA-Z0-9]{32}|duffel_(?:live|test)_[\w-]{43}|fio-u-[\w-]{60,}|pylf_v\d_[a-z]{2}_\w{40,}|"
     r"hc[abc]ik_[a-z0-9]{58}|dd[po]_[A-Za-z0-9]{36}|re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}|(?:live|test)_[A-Za-z0-9]{35,}|"
     r"bb_(?:live|test)_[\w-]{20,}|pdl_(?:live|sdbx)_apikey_\w{20,}|polar_[a-z]{2,5}_[A-Za-z0-9]{30,}|"
     r"dnkey-[a-z0-9=_-]{26}-[a-z0-9=_-]{52}|s-s4t2(?:ud|af)-[a-f0-9]{64}|[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk|"
     r"cf(?:k|at|ut)_[A-Za-z0-9]{40,}|cal_(?:live_)?[a-f0-9]{32}|waka_[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}|"
     r"sdk-[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}|sm_[aps]at_[A-Za-z0-9]{16,})\b",
     ("CCIPAT_", "CCIPRJ_", "bkua_", "bkaj_", "bkct_", "bkpt_", "nfp_", "rnd_", "napi_", "phx_", "phs_", "ck_", "cs_",
      "mlsn.", "apify_api_", "RGAPI-", "xaat-", "xapt-", "p8e-", "duffel_", "fio-u-", "pylf_v", "hcaik_", "hcbik_",
      "hccik_", "ddp_", "ddo_", "re_", "live_", "test_", "bb_live_", "bb_test_", "pdl_", "polar_",
      "dnkey-", "s-s4t2", "_mmk", "cfk_", "cfat_", "cfut_", "cal_", "waka_", "sdk-", "sm_aat_", "sm_pat_", "sm_sat_")),
    ("password in an address", r"(?<=://)[^\s/:@\"'<>{}\[\]]{0,100}:[^\s/@\"'<>{}\[\]]{3,200}(?=@)", ("://",)),
    ("password in a command", r"(?:(?<= -u )|(?<=--user )|(?<=--user=))[\"']?[^\s:\"'<>{}$]{1,64}:[^\s\"'<>{}$]{6,100}",
     (" -u ", "--user")),
    ("authorization", r"(?<=Bearer )[A-Za-z0-9._~+/-]{20,}=*|(?<=Basic )[A-Za-z0-9+/]{16,}={0,2}(?![A-Za-z])",
     ("Bearer ", "Basic ")),
)  # fmt: skip
"""What it is, its documented form, and what a text must hold to have one."""

_VAGUE = (
    "pat",
    "sl.",
    "API-",
    "ico-",
    "v1.0-",
    "dp.s",
    "fm1",
    "fm2_",
    "figo",
    "figu",
    "pat.",
    "sat.",
    "M",
    "N",
    "O",
    "1000.",
    "ck_",
    "cs_",
    "re_",
    "sk_",
    "live_",
    "test_",
    "SK",
    "AC",
    "-us",
    "://",
    " -u ",
    "--user",
    "Bearer ",
    "Basic ",
    "fw_",
    "fc-",
    "BSA",
    "_mmk",
    "cfk_",
    "cal_",
    "sdk-",
)
HIDDEN = "[hidden]"
"""The placeholder for a secret that the user passed."""

_PLACEHOLDER = re.compile(r"\[(?:hidden|[\w ]{1,40} left out)\]")

_MIN_LENGTH = 16
"""Characters of the shortest credential, except for a password in a URL."""

_MAX_PLACEHOLDER_CHARACTERS = 2
"""A string that ends in so few distinct characters only shows the form of a credential: `sk-xxxx`."""


def _any_of(words: Iterable[str]) -> str:
    """Returns a regex for some words, grouped by first letter: a plain alternation tries every word in turn."""
    by_letter: dict[str, list[str]] = {}
    for word in words:
        by_letter.setdefault(word[0], []).append(word[1:])
    return "|".join(f"{re.escape(letter)}(?:{'|'.join(map(re.escape, rests))})" for letter, rests in by_letter.items())


_PREFILTER = re.compile(
    _any_of(start for _, _, starts in _FORMS for start in starts if start not in _VAGUE)
    + r"|(?:SK|AC)[0-9a-f]{16}|pat[A-Za-z0-9]{14}\.|\bsl\.[\w=-]{16}|API-[A-Z0-9]{12}|ico-[A-Za-z0-9]{16}"
    r"|v1\.0-[a-f0-9]{12}|dp\.s[a-z]{1,4}\.|fm[12][ar]?_[A-Za-z0-9+/]{16}|fig[ou]r?_|[ps]at\.[\w-]{22}\."
    r"|[0-9a-f]{16}-us|[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27}|1000\.[a-f0-9]{16}|c[ks]_[a-f0-9]{16}|sk_[a-f0-9]{16}"
    r"|fw_[A-Za-z0-9]{20}|fc-[a-f0-9]{16}|BSA[\w-]{28}|[A-Za-z0-9]{29}_mmk|cfk_[A-Za-z0-9]{20}|cal_(?:live_)?[a-f0-9]{16}"
    r"|sdk-[a-f0-9]{8}-|re_[A-Za-z0-9]{8}_[A-Za-z0-9]{12}|(?:live|test)_[A-Za-z0-9]{16}"
)
_ASSIGNED = re.compile(
    r"(?:api[_-]?key|access[_-]?key|secret|token|passw(?:or)?d|passphrase|credential|private[_-]?key|signature)"
    r"[A-Za-z0-9_-]{0,20}[\"'`]{0,2}\s{0,3}(?:=>|[:=]|\bis\b)\s{0,3}[\"'`]{0,2}"
    r"(?P<value>[A-Za-z0-9+/_.~!@#$%^*-]{10,300}={0,2})",
    re.IGNORECASE,
)
_IN_URL_OR_COOKIE = re.compile(
    r"(?<![\w-])(?:sig|key|auth|sid|session|session_?id|jsessionid|phpsessid|connect\.sid)="
    r"(?P<value>[A-Za-z0-9+/_.%~-]{24,2000}={0,2})",
    re.IGNORECASE,
)
"""Names that are too short for prose, but name a secret in a URL or a cookie."""

_SECRET_PARAMETER = (
    r"(?:(?:[A-Za-z]{1,16}[_.-]?)?(?:passw(?:or)?d|passphrase|pwd|secret)|(?:access|refresh|auth|bearer|api|id)?[_-]?token"
    r"|(?:x[_-])?(?:api|access|secret|private|client|account|subscription)[_-]?key)"
)
_SECRET_VALUE = r"(?P<value>[^\s&#;\"'`<>|,)\]}]{4,200})"
_IN_QUERY = re.compile(f"(?:[?&]|&amp;){_SECRET_PARAMETER}={_SECRET_VALUE}", re.IGNORECASE)
"""A URL parameter that is named like a secret: its value is secret, however short."""

_IN_CONNECTION_STRING = re.compile(rf"(?:[;\s]|\A){_SECRET_PARAMETER}[ ]?=[ ]?{_SECRET_VALUE}", re.IGNORECASE)
_CONNECTION_STRING = re.compile(
    r"(?:server|data source|host|hostname|database|dbname|uid|user(?:name| id)?|endpoint|accountname)[ ]?="
    r"[^=\s,\"'()]{1,100}(?:;|[ ]\w)",
    re.IGNORECASE,
)
_PLACEHOLDER_WORDS = re.compile(
    "placeholder|passphrase|passw(?:or)?d|passwort|undefined|changeme|username|redacted|database|encoded|refresh|session"
    "|example|access|bearer|client|hidden|sample|secret|string|values?|dummy|token|false|admin(?=pass)|pass|user|auth|demo"
    "|here|test|text|true|null|none|some|your|abc|api|bar|baz|foo|key|new|old|pwd|the|xyz|db|id|is|my|pw|[xX]{3,}",
    re.IGNORECASE,
)
_REST_OF_PLACEHOLDER = re.compile(r"[\W_]*(?:0?1(?:2(?:3(?:4(?:5(?:6(?:7(?:8(?:90?)?)?)?)?)?)?)?)?|\d)?[\W_]*")
_SECRET_NOUN = re.compile("passw|pwd|secret|token|key", re.IGNORECASE)
"""A value of letters alone that names what it is: `primaryAccessKey`, `storetoken`."""

_VARIABLE = re.compile(r"[<{\[…]|%[sd]|%[A-Za-z_]+%|\$[({]|:?\$?[A-Z][A-Z0-9]*_[A-Z0-9_]+$|\$\w+$|\*+$")
"""The start of a placeholder that a reader replaces."""

_MIN_RANDOM_LENGTH = 10
_CHARACTER_CLASSES = (re.compile("[a-z]"), re.compile("[A-Z]"), re.compile("[0-9]"))
_SYLLABLES = re.compile(r"[A-Za-z][a-z]{3}")
"""A short value with four letters in sequence is made of words, such as `newPassw0rd`."""

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_SECRET_WORDS = re.compile(
    r"(?:^|_)(?:tokens?|secrets?|passw(?:or)?d|passphrase|pwd|credentials?|api_?keys?|access_?keys?|private_?keys?|"
    r"secret_?keys?|auth_?keys?|client_?secret|signing_?key|encryption_?key|session_?key|signature|authorization|jwt|"
    r"bearer)(?:_?(?:value|id))?$"
)
_PAGE_TOKEN = re.compile(
    r"(?:page|pagination|next|prev|previous|continuation|cursor|sync|resume|skip)[_-]?tokens?$", re.IGNORECASE
)
"""Pagination tokens are not credentials."""

_MAX_PAGE_WORD = len("continuation_")

_PLAIN_WORD = re.compile(r"[a-z_./:;,#@~+$%()\[\]{}<>`'\"?=&|*!-]+").fullmatch
"""A credential has a digit or an upper-case letter; most long words are URLs and names without either."""

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")
_NOT_RANDOM = re.compile(
    r"^(?:arn|urn):|^projects/|[\s{}<>()\[\]]|x{4,}|X{4,}|\*{3,}|\.{3,}|example[-_.]|[yY]our|YOUR|placeholder|redacted|change[-_]?me|"
    r"123e4567-e89b-12d3-a456-4266141740"  # the UUID of documentation, also in generated examples
)


def redact(text: str) -> tuple[str, tuple[str, ...]]:
    """Returns a text with a placeholder for each credential, and the kinds of these credentials."""
    kinds: dict[str, None] = {}
    for kind, form, starts in _FORMS:
        if any(start in text for start in starts):
            changed = _compiled(form).sub(partial(_placeholder, kind), text)
            if changed != text:
                text, kinds[kind] = changed, None
    if _names_a_secret(text):
        changed = _ASSIGNED.sub(_redact_value, text)
        if changed != text:
            text, kinds["secret"] = changed, None
    if _has_short_name(text):
        changed = _IN_URL_OR_COOKIE.sub(_redact_value, text)
        if changed != text:
            text, kinds["secret"] = changed, None
    for pattern in _secret_parameters(text):
        changed = pattern.sub(_redact_parameter, text)
        if changed != text:
            text, kinds["secret in an address"] = changed, None
    return text, tuple(kinds)


def might_hold_credential(text: str) -> bool:
    """True unless a text certainly has no credential. A fast prefilter: most texts have no word that is long enough."""
    if len(text) < _MIN_LENGTH:
        return False
    if ("@" in text and "://" in text) or "-----BEGIN" in text or " -u " in text or "--user" in text:
        return True
    if any(pattern.search(text) for pattern in _secret_parameters(text)):
        return True
    words = [word for word in text.split() if len(word) >= _MIN_LENGTH and not _PLAIN_WORD(word)]
    if not words:
        return ("assw" in text or "ASSW" in text) and bool(_ASSIGNED.search(text))
    return (
        bool(_PREFILTER.search(" ".join(words)))
        or _names_a_secret(text)
        or _has_short_name(text)
        or "earer " in text
        or "asic " in text
    )


def placeholder(kind: str) -> str:
    """Returns the placeholder for a credential."""
    return f"[{kind} left out]"


def without_placeholders(text: str) -> str:
    """Returns a text without the placeholders for secrets and credentials."""
    return _PLACEHOLDER.sub("", text) if "[" in text else text


@lru_cache(1 << 12)
def is_secret_name(name: str) -> bool:
    """True if a value of this name is a secret: `api_key`, `clientSecret`, `X-Auth-Token`."""
    words = "_".join(part for part in _CAMEL.split(name) if part).lower()
    return bool(_SECRET_WORDS.search(words)) and not _PAGE_TOKEN.search(words)


def looks_random(value: str) -> bool:
    """True if a value looks generated: by its entropy, or if it is short, by its mix of characters."""
    if not _MIN_RANDOM_LENGTH <= len(value) <= 4_000 or _NOT_RANDOM.search(value):
        return False
    if len(value) < _MIN_LENGTH:
        return all(characters.search(value) for characters in _CHARACTER_CLASSES) and not _SYLLABLES.search(value)
    digits = sum(character.isdigit() for character in value)
    if not digits or digits == len(value):
        return False
    counts = Counter(value)
    bits = -sum(count / len(value) * math.log2(count / len(value)) for count in counts.values())
    return bits >= (3.0 if all(character in "0123456789abcdefABCDEF-" for character in value) else 3.5)


@lru_cache(128)
def _compiled(form: str) -> re.Pattern[str]:
    """Compiles a form; unlike `\\b`, an underscore also delimits a credential, since it joins names."""
    pattern = re.sub(r"(^|[|(])\\b", r"\1(?<![A-Za-z0-9])", form)
    return re.compile(pattern.replace(r"\b", "(?![A-Za-z0-9])"))


def _placeholder(kind: str, match: re.Match[str]) -> str:
    """Returns the placeholder; keeps a sample such as `Bearer YOUR_TOKEN`, `user:password@host`, `sk-…` or `AC000…`."""
    matched = match[0]
    if len(set(matched[-_MIN_LENGTH:])) <= _MAX_PLACEHOLDER_CHARACTERS and "://" not in matched:
        return matched
    if kind in ("authorization", "password in a command") and not any(character.isdigit() for character in matched):
        return matched
    if kind == "OpenAI key" and not any(character.isdigit() for character in matched):
        return matched
    if kind == "password in an address" and re.fullmatch(
        r"(?i)[<\[{]?(?=\w*user)\w+[>\]}]?:[<\[{]?(?=\w*(?:pass|pwd|secret|token))\w+[>\]}]?", matched
    ):
        return matched
    # One word, so that the rest of the URL remains a URL: `mysql://redacted@host`.
    return "redacted" if kind == "password in an address" else placeholder(kind)


def _names_a_secret(text: str) -> bool:
    if "=" not in text and ":" not in text and " is " not in text:
        return False
    lower = text.lower()
    return any(word in lower for word in ("key", "secret", "token", "passw", "passphrase", "credential", "signature"))


def _has_short_name(text: str) -> bool:
    if "=" not in text:
        return False
    lower = text.lower()
    return any(name in lower for name in ("sig=", "key=", "auth=", "sid=", "session=", "sessionid=", "session_id="))


def _secret_parameters(text: str) -> list[re.Pattern[str]]:
    """Returns the patterns for secret parameters that might match: those of a URL and of a connection string.

    A path without a host is the request of an example, whose arguments are checked one by one.
    """
    if "=" not in text:
        return []
    lower = text.lower()
    if not any(word in lower for word in ("passw", "passphrase", "pwd", "secret", "token", "key")):
        return []
    patterns = [_IN_QUERY] if "://" in text else []
    return [*patterns, _IN_CONNECTION_STRING] if _CONNECTION_STRING.search(text) else patterns


def _redact_parameter(match: re.Match[str]) -> str:
    value = match["value"].rstrip(".:!?")
    if _is_placeholder(unquote(value)):
        return match[0]
    # One word, so that the rest of the URL remains a URL.
    start = match.start("value") - match.start()
    return f"{match[0][:start]}redacted{match[0][start + len(value) :]}"


def _is_placeholder(value: str) -> bool:
    """True if a value only shows where a secret goes: `YOUR_TOKEN`, `${TOKEN}`, `***`, `password123`."""
    if len(set(value)) <= _MAX_PLACEHOLDER_CHARACTERS or _VARIABLE.match(value):
        return True
    if value.isalpha() and _SECRET_NOUN.search(value):
        return True
    return bool(_REST_OF_PLACEHOLDER.fullmatch(_PLACEHOLDER_WORDS.sub("", value)))


def _redact_value(match: re.Match[str]) -> str:
    matched, value = match[0], match["value"]
    if match.string[match.end() : match.end() + 1] == "(":
        return matched  # a function call in code
    if _PAGE_TOKEN.search(match.string[max(0, match.start() - _MAX_PAGE_WORD) : match.start() + len("token")]):
        return matched
    if match.re is _IN_URL_OR_COOKIE and _UUID.match(value):
        return matched
    return matched.replace(value, placeholder("secret")) if looks_random(unquote(value)) else matched
