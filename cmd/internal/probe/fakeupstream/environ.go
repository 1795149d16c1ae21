package fakeupstream

import "strings"

// credentials lists the variables that servers require, as NAME or NAME=form, where S is replaced by the secret: some
// servers check the form. Each value contains [Secret].
var credentials = []string{
	"OPENAI_API_KEY=sk-S", "ANTHROPIC_API_KEY=sk-ant-S", "GEMINI_API_KEY", "GOOGLE_API_KEY=AIzaS", "GOOGLE_MAPS_API_KEY=AIzaS", "GOOGLE_SEARCH_ENGINE_ID",
	"MISTRAL_API_KEY", "COHERE_API_KEY", "GROQ_API_KEY=gsk_S", "PERPLEXITY_API_KEY=pplx-S", "DEEPSEEK_API_KEY=sk-S", "OPENROUTER_API_KEY=sk-or-S", "HF_TOKEN=hf_S",
	"REPLICATE_API_TOKEN=r8_S", "ELEVENLABS_API_KEY", "MEM0_API_KEY", "PINECONE_API_KEY=pcsk_S", "LARA_ACCESS_KEY_ID", "LARA_ACCESS_KEY_SECRET",
	"GITHUB_TOKEN=ghp_S", "GITHUB_PERSONAL_ACCESS_TOKEN=ghp_S", "GH_TOKEN=ghp_S", "GITLAB_TOKEN=glpat-S", "GITLAB_PERSONAL_ACCESS_TOKEN=glpat-S",
	"BITBUCKET_TOKEN", "BITBUCKET_PASSWORD", "ATLASSIAN_API_TOKEN", "JIRA_API_TOKEN", "CONFLUENCE_API_TOKEN", "LINEAR_API_KEY=lin_api_S", "SHORTCUT_API_TOKEN",
	"TRELLO_API_KEY", "TRELLO_TOKEN", "ASANA_ACCESS_TOKEN", "CLICKUP_API_KEY", "TODOIST_API_TOKEN", "NOTION_TOKEN=ntn_S", "NOTION_API_KEY=ntn_S",
	"AIRTABLE_API_KEY=pat_S", "FIGMA_API_KEY=figd_S", "FIGMA_ACCESS_TOKEN=figd_S", "MIRO_ACCESS_TOKEN", "OBSIDIAN_API_KEY",
	"SLACK_BOT_TOKEN=xoxb-S", "SLACK_TEAM_ID=TS", "DISCORD_TOKEN", "TELEGRAM_BOT_TOKEN=123456:S", "TWILIO_AUTH_TOKEN", "SENDGRID_API_KEY=SG.S", "RESEND_API_KEY=re_S",
	"MAILTRAP_API_TOKEN", "HUBSPOT_ACCESS_TOKEN=pat-S", "INTERCOM_ACCESS_TOKEN", "ZENDESK_API_TOKEN",
	"BRAVE_API_KEY=BSAS", "TAVILY_API_KEY=tvly-S", "EXA_API_KEY", "SERPER_API_KEY", "SERPAPI_API_KEY", "FIRECRAWL_API_KEY=fc-S", "JINA_API_KEY=jina_S",
	"KAGI_API_KEY", "APIFY_TOKEN=apify_api_S", "REF_API_KEY", "CONTEXT7_API_KEY=ctx7sk-S", "BRIGHTDATA_API_TOKEN", "API_TOKEN",
	"BROWSERBASE_API_KEY=bb_live_S", "BROWSERBASE_PROJECT_ID", "BROWSERSTACK_USERNAME", "BROWSERSTACK_ACCESS_KEY", "PERCY_TOKEN",
	"AWS_ACCESS_KEY_ID=AKIAS", "AWS_SECRET_ACCESS_KEY", "AZURE_CLIENT_SECRET", "AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_SUBSCRIPTION_ID",
	"CLOUDFLARE_API_TOKEN", "CLOUDFLARE_ACCOUNT_ID", "NETLIFY_AUTH_TOKEN", "NETLIFY_PERSONAL_ACCESS_TOKEN", "VERCEL_TOKEN", "RAILWAY_API_TOKEN", "HEROKU_API_KEY",
	"DIGITALOCEAN_API_TOKEN", "TURSO_API_TOKEN", "TURSO_ORGANIZATION", "SUPABASE_ACCESS_TOKEN=sbp_S", "NEON_API_KEY", "UPSTASH_API_KEY", "INFLUXDB_TOKEN",
	"VAULT_TOKEN=hvs.S", "INFISICAL_UNIVERSAL_AUTH_CLIENT_ID", "INFISICAL_UNIVERSAL_AUTH_CLIENT_SECRET", "SONARQUBE_TOKEN=squ_S", "SONAR_TOKEN=squ_S",
	"SENTRY_AUTH_TOKEN=sntrys_S", "ROLLBAR_ACCESS_TOKEN", "DATADOG_API_KEY", "DD_API_KEY", "DD_APP_KEY", "GRAFANA_API_KEY=glsa_S", "GRAFANA_SERVICE_ACCOUNT_TOKEN=glsa_S",
	"PAGERDUTY_API_KEY", "LAUNCHDARKLY_API_KEY=api-S", "STRIPE_SECRET_KEY=sk_test_S", "STRIPE_API_KEY=sk_test_S", "PAYPAL_ACCESS_TOKEN",
	"SHOPIFY_ACCESS_TOKEN=shpat_S", "SHOPIFY_API_KEY", "SPOTIFY_CLIENT_ID", "SPOTIFY_CLIENT_SECRET", "YOUTUBE_API_KEY=AIzaS", "OPENWEATHER_API_KEY", "ALPHA_VANTAGE_API_KEY",
	"BANKLESS_API_TOKEN", "ALIBABA_CLOUD_ACCESS_KEY_SECRET", "YUNXIAO_ACCESS_TOKEN", "PGPASSWORD", "API_KEY", "ACCESS_TOKEN",
}

// addresses are the variables for the URLs of self-hosted services.
var addresses = []string{
	"GITLAB_API_URL=https://gitlab.example.com/api/v4", "GRAFANA_URL=https://grafana.example.com", "INFLUXDB_URL=https://influxdb.example.com",
	"SEARXNG_URL=https://searxng.example.com", "SONARQUBE_URL=https://sonarqube.example.com", "VAULT_ADDR=https://vault.example.com",
	"JIRA_URL=https://jira.example.com", "CONFLUENCE_URL=https://confluence.example.com", "SHOPIFY_STORE_DOMAIN=example.myshopify.com", "MYSHOPIFY_DOMAIN=example.myshopify.com",
	"DATABASE_URL=postgres://user:zz9secret@db.example.com:5432/db", "REDIS_URL=redis://:zz9secret@cache.example.com:6379", "MONGODB_URI=mongodb://user:zz9secret@db.example.com:27017/db",
}

// trusting are the variables that name the certificates that programs trust. Java has none: its connections fail.
var trusting = []string{
	"SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "AWS_CA_BUNDLE", "DENO_CERT", "GIT_SSL_CAINFO", "NIX_SSL_CERT_FILE",
}

// proxies are set to "", because a proxy would take the requests away from the upstream.
var proxies = []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"}

// Environ returns the variables that a server needs, as NAME=value: trusted certificates, no proxy, and dummy credentials with the usual
// names, each of which contains [Secret]. They replace inherited variables; variables that the user sets come after them.
func (u *Upstream) Environ() []string {
	var vars []string
	for _, name := range trusting {
		vars = append(vars, name+"="+u.sharedDir.file("ca.pem"))
	}
	for _, name := range proxies {
		vars = append(vars, name+"=")
	}
	vars = append(vars, "NO_PROXY=*", "no_proxy=*")
	for _, credential := range credentials {
		name, form, _ := strings.Cut(credential, "=")
		if form == "" {
			form = "S"
		}
		cut := strings.LastIndex(form, "S")
		vars = append(vars, name+"="+form[:cut]+Secret+"-0123456789abcdef")
	}
	return append(vars, addresses...)
}
