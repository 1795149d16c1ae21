// Package otlp exports the spans, metrics and log records of the OpenTelemetry SDK with OTLP over HTTP, as protobuf or JSON.
//
// The official exporters do the same, but depend on gRPC even for HTTP: docs/decisions says why this package exists.
package otlp

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// Signal is a kind of telemetry.
type Signal string

// The signals. Their names are those in the environment variables, in lower case, and in the paths of OTLP.
const (
	Traces  Signal = "traces"
	Metrics Signal = "metrics"
	Logs    Signal = "logs"
)

// Settings configures the export of one signal.
type Settings struct {
	URL     string
	Headers map[string]string
	Timeout time.Duration // of one export, retries included
	Gzip    bool
	JSON    bool        // instead of protobuf
	TLS     *tls.Config // nil means the default
}

const (
	defaultEndpoint = "http://localhost:4318"
	defaultTimeout  = 10 * time.Second
)

// Wanted reports whether a variable asks for telemetry. It does no other work, so that programs without telemetry start as fast as
// before.
func Wanted(getenv func(string) string) bool {
	for _, signal := range []Signal{Traces, Metrics, Logs} {
		if wants(getenv, signal) {
			return !isTrue(getenv("OTEL_SDK_DISABLED"))
		}
	}
	return false
}

// wants reports whether the variables of a signal ask for its export.
func wants(getenv func(string) string, signal Signal) bool {
	switch exporter := strings.TrimSpace(getenv("OTEL_" + upper(signal) + "_EXPORTER")); exporter {
	case "":
		return getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || getenv("OTEL_EXPORTER_OTLP_"+upper(signal)+"_ENDPOINT") != ""
	default:
		return exporter != "none"
	}
}

func upper(signal Signal) string { return strings.ToUpper(string(signal)) }

func isTrue(text string) bool { return strings.EqualFold(strings.TrimSpace(text), "true") }

// Read returns the settings of a signal. On is false if it is not to be exported. An error names the variable that is wrong.
func Read(getenv func(string) string, signal Signal) (s Settings, on bool, err error) {
	if isTrue(getenv("OTEL_SDK_DISABLED")) || !wants(getenv, signal) {
		return Settings{}, false, nil
	}
	if exporter := strings.TrimSpace(getenv("OTEL_" + upper(signal) + "_EXPORTER")); exporter != "" && exporter != "otlp" {
		return Settings{}, false, fmt.Errorf("OTEL_%s_EXPORTER=%q: not supported; want otlp or none", upper(signal), exporter)
	}
	v := variables{getenv, signal}
	name, protocol := v.get("PROTOCOL")
	if s.JSON = protocol == "http/json"; !s.JSON && protocol != "" && protocol != "http/protobuf" {
		return Settings{}, false, fmt.Errorf("%s=%q: not supported; want http/protobuf or http/json", name, protocol)
	}
	if s.URL, err = v.url(); err != nil {
		return Settings{}, false, err
	}
	if s.Headers, err = v.headers(); err != nil {
		return Settings{}, false, err
	}
	s.Timeout = defaultTimeout
	if name, text := v.get("TIMEOUT"); text != "" {
		ms, err := strconv.Atoi(text)
		if err != nil || ms <= 0 {
			return Settings{}, false, fmt.Errorf("%s=%q: want milliseconds", name, text)
		}
		s.Timeout = time.Duration(ms) * time.Millisecond
	}
	name, compression := v.get("COMPRESSION")
	if s.Gzip = compression == "gzip"; !s.Gzip && compression != "" && compression != "none" {
		return Settings{}, false, fmt.Errorf("%s=%q: want gzip or none", name, compression)
	}
	if s.TLS, err = v.tls(); err != nil {
		return Settings{}, false, err
	}
	return s, true, nil
}

// variables reads the OTEL_EXPORTER_OTLP_* variables of a signal.
type variables struct {
	getenv func(string) string
	signal Signal
}

// get returns the value for the signal, or else the one for all, with the name of its variable.
func (v variables) get(suffix string) (name, value string) {
	name = "OTEL_EXPORTER_OTLP_" + upper(v.signal) + "_" + suffix
	if value = strings.TrimSpace(v.getenv(name)); value != "" {
		return name, value
	}
	name = "OTEL_EXPORTER_OTLP_" + suffix
	return name, strings.TrimSpace(v.getenv(name))
}

// url returns the address. A path is added only to the endpoint for all signals.
func (v variables) url() (string, error) {
	own := "OTEL_EXPORTER_OTLP_" + upper(v.signal) + "_ENDPOINT"
	name, text := v.get("ENDPOINT")
	if text == "" {
		text = defaultEndpoint
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("%s: not an http or https URL", name) // without the value, which may contain a password
	}
	if name != own {
		u = u.JoinPath("v1", string(v.signal))
	} else if u.Path == "" {
		u.Path = "/"
	}
	return u.String(), nil
}

// headers returns the pairs in name=value,name=value, whose values are percent-encoded.
func (v variables) headers() (map[string]string, error) {
	name, text := v.get("HEADERS")
	headers := map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		key, value, ok := strings.Cut(pair, "=")
		decoded, err := url.PathUnescape(strings.TrimSpace(value))
		if key = strings.TrimSpace(key); !ok || key == "" || err != nil || strings.ContainsAny(key+decoded, "\r\n") {
			return nil, fmt.Errorf("%s: want name=value pairs separated by commas", name) // without the value, which may be a secret
		}
		headers[key] = decoded
	}
	return headers, nil
}

// tls returns the configuration for the authority in the variables, or nil if there is none.
func (v variables) tls() (*tls.Config, error) {
	authorityName, authority := v.get("CERTIFICATE")
	if authority == "" {
		return nil, nil //nolint:nilnil // the default of net/http
	}
	pem, err := os.ReadFile(authority)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", authorityName, err)
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: x509.NewCertPool()}
	if !c.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s: %w", authorityName, errors.New("no certificate in the file"))
	}
	return c, nil
}
