package otlp_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/telemetry/otlp"
)

// env returns a getenv for variables.
func env(variables map[string]string) func(string) string {
	return func(name string) string { return variables[name] }
}

func TestSettingsFollowTheVariables(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		variables map[string]string
		signal    otlp.Signal
		want      otlp.Settings // an empty URL means off
	}{
		"nothing":        {nil, otlp.Traces, otlp.Settings{}},
		"for all":        {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318/base/"}, otlp.Traces, otlp.Settings{URL: "http://c:4318/base/v1/traces", Timeout: 10 * time.Second}},
		"for one":        {map[string]string{"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "https://c/in"}, otlp.Logs, otlp.Settings{URL: "https://c/in", Timeout: 10 * time.Second}},
		"for another":    {map[string]string{"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "https://c/in"}, otlp.Traces, otlp.Settings{}},
		"one before all": {map[string]string{"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "https://c/in", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://d"}, otlp.Logs, otlp.Settings{URL: "https://c/in", Timeout: 10 * time.Second}},
		"default":        {map[string]string{"OTEL_METRICS_EXPORTER": "otlp"}, otlp.Metrics, otlp.Settings{URL: "http://localhost:4318/v1/metrics", Timeout: 10 * time.Second}},
		"none":           {map[string]string{"OTEL_METRICS_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://c"}, otlp.Metrics, otlp.Settings{}},
		"JSON":           {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/json"}, otlp.Traces, otlp.Settings{URL: "http://c/v1/traces", Timeout: 10 * time.Second, JSON: true}},
		"disabled":       {map[string]string{"OTEL_SDK_DISABLED": "TRUE", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://c"}, otlp.Metrics, otlp.Settings{}},
		"the rest": {map[string]string{
			"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_EXPORTER_OTLP_HEADERS": "a=b%2Cc, d=e=f,", "OTEL_EXPORTER_OTLP_TIMEOUT": "5", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT": "250",
			"OTEL_EXPORTER_OTLP_COMPRESSION": "gzip", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
		}, otlp.Traces, otlp.Settings{URL: "http://c/v1/traces", Timeout: 250 * time.Millisecond, Gzip: true, Headers: map[string]string{"a": "b,c", "d": "e=f"}}},
	} {
		got, on, err := otlp.Read(env(row.variables), row.signal)
		if err != nil || on != (row.want.URL != "") {
			t.Errorf("%s: on %t, %v", name, on, err)
		}
		if got.URL != row.want.URL || got.Timeout != row.want.Timeout || got.Gzip != row.want.Gzip || got.JSON != row.want.JSON || !maps.Equal(got.Headers, row.want.Headers) {
			t.Errorf("%s: %+v, want %+v", name, got, row.want)
		}
		if any := otlp.Wanted(env(row.variables)); on && !any {
			t.Errorf("%s: not wanted", name)
		}
	}
}

func TestBadVariablesAreNamedWithoutSecrets(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": "ftp://user:hunter2@c", "OTEL_EXPORTER_OTLP_HEADERS": "authorization hunter2", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
		"OTEL_EXPORTER_OTLP_TIMEOUT": "soon", "OTEL_EXPORTER_OTLP_COMPRESSION": "zip", "OTEL_TRACES_EXPORTER": "zipkin", "OTEL_EXPORTER_OTLP_CERTIFICATE": "no/such/file",
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "localhost:4318",
	} {
		variables := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c"}
		variables[name] = value
		_, on, err := otlp.Read(env(variables), otlp.Traces)
		if on || err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s=%s: on %t, %v", name, value, on, err)
		}
	}
}
