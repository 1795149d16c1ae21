package meter_test

import (
	"strings"
	"testing"

	"github.com/candor-mcp/candor/meter"
)

func TestFromEnvSwitchValues(t *testing.T) {
	for value, want := range map[string]bool{
		"1": true, "true": true, "TRUE": true, "Yes": true, "on": true, " 1 ": true,
		"": false, "0": false, "false": false, "No": false, "OFF": false,
	} {
		_, on, err := meter.FromEnv(env{meter.EnvMetrics: value}.get)
		if err != nil || on != want {
			t.Errorf("%q: on %v, error %v", value, on, err)
		}
	}
	for _, value := range []string{"2", "ja", "truee", "1\n2", strings.Repeat("y", 1<<20)} {
		_, on, err := meter.FromEnv(env{meter.EnvMetrics: value}.get)
		if err == nil || on {
			t.Errorf("%.20q is accepted", value)
			continue
		}
		if text := err.Error(); !strings.Contains(text, "true") || !strings.Contains(text, meter.EnvMetrics) || len(text) > 512 {
			t.Errorf("%.20q: the error does not name the setting and the accepted values in brief: %.600s", value, text)
		}
	}
}

func TestParseSampleErrorListsForms(t *testing.T) {
	for _, value := range []string{
		"0", "-1", "abc", "1.5", "99999999999999999999", "1000000001", "bucket", "bucket:", "bucket:/", "bucket:5", "bucket:0/5",
		"bucket:5/0", "bucket:-1/5", "bucket:5/-1", "bucket:NaN/5", "bucket:Inf/5", "bucket:1e300/5", "bucket:1/9999999999",
		"bucket:1/2/3", "bucket:0.0001/1", "Bucket 1/2",
	} {
		for _, on := range []string{"1", ""} {
			_, _, err := meter.FromEnv(env{meter.EnvMetrics: on, meter.EnvSample: value}.get)
			if err == nil {
				t.Errorf("%q is accepted", value)
				continue
			}
			if text := err.Error(); !strings.Contains(text, "bucket:RATE/BURST") || !strings.Contains(text, meter.EnvSample) {
				t.Errorf("%q: the error does not name the setting and its forms: %s", value, text)
			}
		}
	}
}

func TestFromEnv(t *testing.T) {
	set := env{meter.EnvMetrics: "on", meter.EnvSample: " bucket:0.5/3 ", meter.EnvFile: "last.json"}
	got, on, err := meter.FromEnv(set.get)
	want := meter.Options{Sample: meter.Sample{Rate: 0.5, Burst: 3}, File: "last.json"}
	if err != nil || !on || got != want {
		t.Errorf("got %+v, %v, %v", got, on, err)
	}
	set[meter.EnvMetrics] = "off"
	if got, on, err := meter.FromEnv(set.get); err != nil || on || got != (meter.Options{}) {
		t.Errorf("off: got %+v, %v, %v", got, on, err)
	}
}

func TestInvalidOptions(t *testing.T) {
	for _, bad := range []meter.Options{
		{MaxTools: -1}, {MaxTools: 1 << 30}, {Sample: meter.Sample{Every: -1}}, {Sample: meter.Sample{Every: 2, Rate: 1, Burst: 1}},
		{Sample: meter.Sample{Rate: 1}}, {File: "no such folder/last.json"},
	} {
		if _, err := meter.New(bad); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}

type env map[string]string

func (e env) get(name string) string { return e[name] }
