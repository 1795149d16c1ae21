package redact

import (
	"cmp"
	"slices"
)

// families is the table of secrets that are recognised by a prefix. min is the shortest tail; weak prefixes, which ordinary
// words may have, require digits in the tail, and a longer tail if it is truncated.
var families = []struct {
	prefixes []string
	shape
}{
	{[]string{"AKIA", "ASIA", "ABIA", "ACCA"}, shape{kind: "aws-access-key", set: upper | digit, min: 16, max: 16}},
	{[]string{"ABSK"}, shape{kind: "aws-access-key", set: b64, min: 60, weak: true}},
	{[]string{"LTAI"}, shape{kind: "alibaba-key", set: alnum, min: 12, max: 26, weak: true}},
	{[]string{"AKID"}, shape{kind: "tencent-key", set: alnum, min: 32, weak: true}},
	{[]string{"github_pat_"}, shape{kind: "github-token", set: word, min: 10}},
	{[]string{"ghp_", "gho_", "ghu_", "ghr_"}, shape{kind: "github-token", set: alnum, min: 10}},
	{[]string{"ghs_"}, shape{kind: "github-token", set: dotted, min: 10}},
	{[]string{"glpat-", "glrt-"}, shape{kind: "gitlab-token", set: dotted, min: 10}},
	{[]string{"gldt-", "glptt-", "glcbt-", "GR1348941"}, shape{kind: "gitlab-token", set: token, min: 10}},
	{[]string{"xoxe.xox"}, shape{kind: "slack-token", set: dotted, min: 8}},
	{[]string{"xoxa-", "xoxb-", "xoxc-", "xoxe-", "xoxp-", "xoxr-", "xoxs-"}, shape{kind: "slack-token", set: token, min: 8}},
	{[]string{"xoxd-"}, shape{kind: "slack-token", set: token | plus | slash, min: 8}},
	{[]string{"xapp-"}, shape{kind: "slack-token", set: token, min: 10}},
	{[]string{"hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.zapier.com/hooks/catch/", "discord.com/api/webhooks/", "discordapp.com/api/webhooks/", "webhook.office.com/webhookb2/"}, shape{kind: "webhook", set: token | slash, min: 1, keep: true}},
	{[]string{"infura.io/v3/", "alchemy.com/v2/", "alchemyapi.io/v2/", "exchangerate-api.com/v6/"}, shape{kind: "url-key", set: token, min: 8, keep: true}},
	{[]string{"api.telegram.org/bot", "api.telegram.org/file/bot"}, shape{kind: kindTelegram, set: token | colon, min: 1, keep: true}},
	{[]string{"sk_live_", "sk_test_", "rk_live_", "rk_test_"}, shape{kind: "stripe-key", set: alnum, min: 10}},
	{[]string{"whsec_"}, shape{kind: "stripe-key", set: alnum | plus | slash, min: 10}},
	{[]string{"sk-ant-"}, shape{kind: "anthropic-key", set: token, min: 10}},
	{[]string{"sk-proj-", "sk-svcacct-"}, shape{kind: "openai-key", set: token, min: 10}},
	{[]string{"sk-admin-"}, shape{kind: "openai-key", set: token, min: 16}},
	{[]string{"sk-or-v1-"}, shape{kind: "openrouter-key", set: token, min: 10}},
	{[]string{"sk-"}, shape{kind: "openai-key", set: token, min: 16, weak: true}},
	{[]string{"AIza"}, shape{kind: "google-key", set: token, min: 30}},
	{[]string{"ya29."}, shape{kind: "google-token", set: dotted, min: 10}},
	{[]string{"1//0"}, shape{kind: "google-token", set: token, min: 20, weak: true}},
	{[]string{"GOCSPX-"}, shape{kind: "google-secret", set: token, min: 10}},
	{[]string{"SG."}, shape{kind: "sendgrid-key", set: dotted, min: 30, weak: true}},
	{[]string{"SK", "AC"}, shape{kind: "twilio-key", set: hex, min: 32, max: 32, weak: true}},
	{[]string{"npm_"}, shape{kind: "npm-token", set: alnum, min: 30, weak: true}},
	{[]string{"pypi-"}, shape{kind: "pypi-token", set: token, min: 40, weak: true}},
	{[]string{"dckr_pat_", "dckr_oat_"}, shape{kind: "docker-token", set: token, min: 10}},
	{[]string{"hf_", "api_org_"}, shape{kind: "huggingface-token", set: alnum, min: 24, weak: true}},
	{[]string{"secret_"}, shape{kind: "notion-token", set: alnum, min: 32, weak: true}},
	{[]string{"ntn_"}, shape{kind: "notion-token", set: alnum, min: 20, weak: true}},
	{[]string{"lin_api_", "lin_oauth_"}, shape{kind: "linear-key", set: alnum, min: 10}},
	{[]string{"figd_", "figu_"}, shape{kind: "figma-token", set: token, min: 10}},
	{[]string{"ATATT3", "ATCTT3"}, shape{kind: "atlassian-token", set: token | plus, min: 10}},
	{[]string{"ATBB"}, shape{kind: "atlassian-token", set: alnum, min: 24, weak: true}},
	{[]string{"dapi"}, shape{kind: "databricks-token", set: hex | dash, min: 32, weak: true}},
	{[]string{"dop_v1_", "doo_v1_", "dor_v1_"}, shape{kind: "digitalocean-token", set: hex, min: 10}},
	{[]string{"shpat_", "shpca_", "shppa_", "shpss_"}, shape{kind: "shopify-token", set: alnum, min: 10}},
	{[]string{"sq0atp-", "sq0csp-"}, shape{kind: "square-token", set: token, min: 10}},
	{[]string{"EAAA"}, shape{kind: "square-token", set: token, min: 56, weak: true}},
	{[]string{"EAA"}, shape{kind: "facebook-token", set: alnum, min: 56, weak: true}},
	{[]string{"key-"}, shape{kind: "mailgun-key", set: hex, min: 32, weak: true}},
	{[]string{"HRKU-"}, shape{kind: "heroku-key", set: token, min: 10}},
	{[]string{"hvs.", "hvb.", "hvr."}, shape{kind: "vault-token", set: token, min: 10}},
	{[]string{"dp.pt.", "dp.ct.", "dp.sa."}, shape{kind: "doppler-token", set: alnum, min: 10}},
	{[]string{"dp.st."}, shape{kind: "doppler-token", set: dotted, min: 10}},
	{[]string{"tvly-"}, shape{kind: "tavily-key", set: token, min: 10}},
	{[]string{"phc_", "phx_"}, shape{kind: "posthog-key", set: alnum, min: 20}},
	{[]string{"sbp_"}, shape{kind: "supabase-token", set: alnum, min: 20}},
	{[]string{"sb_secret_"}, shape{kind: "supabase-token", set: token, min: 10}},
	{[]string{"xai-"}, shape{kind: "xai-key", set: alnum, min: 20, weak: true}},
	{[]string{"gsk_"}, shape{kind: "groq-key", set: alnum, min: 20}},
	{[]string{"pplx-"}, shape{kind: "perplexity-key", set: alnum, min: 20}},
	{[]string{"r8_"}, shape{kind: "replicate-token", set: alnum, min: 30}},
	{[]string{"pcsk_"}, shape{kind: "pinecone-key", set: word, min: 20}},
	{[]string{"lsv2_pt_", "lsv2_sk_"}, shape{kind: "langsmith-key", set: word, min: 10}},
	{[]string{"fc-"}, shape{kind: "firecrawl-key", set: hex, min: 32, weak: true}},
	{[]string{"apify_api_"}, shape{kind: "apify-token", set: alnum, min: 10}},
	{[]string{"sntrys_"}, shape{kind: "sentry-token", set: word | plus | slash, min: 20}},
	{[]string{"sntryu_"}, shape{kind: "sentry-token", set: alnum, min: 20}},
	{[]string{"NRAK-"}, shape{kind: "newrelic-key", set: alnum, min: 20}},
	{[]string{"glsa_"}, shape{kind: "grafana-token", set: word, min: 20}},
	{[]string{"glc_"}, shape{kind: "grafana-token", set: b64, min: 32, weak: true}},
	{[]string{"pscale_tkn_", "pscale_pw_", "pscale_oauth_"}, shape{kind: "planetscale-token", set: dotted, min: 20}},
	{[]string{"PMAK-"}, shape{kind: "postman-key", set: alnum | dash, min: 20}},
	{[]string{"pul-"}, shape{kind: "pulumi-token", set: hex, min: 40, weak: true}},
	{[]string{"rubygems_"}, shape{kind: "rubygems-key", set: hex, min: 20}},
	{[]string{"nfp_"}, shape{kind: "netlify-token", set: alnum, min: 30, weak: true}},
	{[]string{"CCIPAT_"}, shape{kind: "circleci-token", set: word, min: 20}},
	{[]string{"bkua_"}, shape{kind: "buildkite-token", set: alnum, min: 20}},
	{[]string{"CFPAT-"}, shape{kind: "contentful-token", set: token, min: 20}},
	{[]string{"xkeysib-"}, shape{kind: "brevo-key", set: alnum | dash, min: 20}},
	{[]string{"ops_ey"}, shape{kind: "onepassword-token", set: token, min: 40}},
	{[]string{"AKCp"}, shape{kind: "jfrog-key", set: alnum, min: 50, weak: true}},
	{[]string{"dt0c01."}, shape{kind: "dynatrace-token", set: dotted, min: 20}},
	{[]string{"sl."}, shape{kind: "dropbox-token", set: token, min: 60, weak: true}},
	{[]string{"sqp_", "squ_"}, shape{kind: "sonar-token", set: hex, min: 40, weak: true}},
	{[]string{"re_"}, shape{kind: "resend-key", set: word, min: 28, weak: true}},
	{[]string{"AGE-SECRET-KEY-1", "AGE-SECRET-KEY-PQ-1"}, shape{kind: "age-key", set: upper | digit, min: 10}},
	{[]string{"FlyV1 fm"}, shape{kind: "fly-token", set: token | plus | slash, min: 20}},
	{[]string{"fo1_"}, shape{kind: "fly-token", set: token, min: 30, weak: true}},
	{[]string{"tfp_"}, shape{kind: "typeform-token", set: token, min: 40, weak: true}},
	{[]string{"duffel_live_"}, shape{kind: "duffel-token", set: token, min: 20}},
	{[]string{"pnu_"}, shape{kind: "prefect-token", set: alnum, min: 30, weak: true}},
}

// shapes has a row for each prefix. A longer prefix precedes a shorter one that it begins with.
var shapes = buildShapes()

func buildShapes() (list []shape) {
	for _, f := range families {
		for _, prefix := range f.prefixes {
			f.prefix = prefix
			list = append(list, f.shape)
		}
	}
	slices.SortStableFunc(list, func(a, b shape) int { return cmp.Compare(len(b.prefix), len(a.prefix)) })
	return list
}
