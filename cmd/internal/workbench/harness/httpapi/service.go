package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
)

// Service describes a web service and the domain that reads from it.
type Service struct {
	Name        string // of the domain
	About       string // of the domain
	URL         string // default URL of the service
	URLName     string // variable with another URL, such as MCP_GITHUB_BASE_URL
	TokenName   string // variable with the token, such as GITHUB_TOKEN
	TokenAdvice string // how to configure a token
	Anonymous   bool   // the service can be used without a token
	Headers     map[string]string
	Codes       Codes

	client *Client
}

// Configure creates the client of the service. It opens no connection.
func (s *Service) Configure(v *domain.Variables) {
	config := s.Config(v)
	if v.Err == nil {
		s.client, v.Err = New(config, s.Headers)
	}
}

// Domain returns the domain with its methods, all of which only read. Their codes are added to those of the service, and the token is
// removed from their results.
func (s *Service) Domain(methods ...domain.Method) domain.Domain {
	for i := range methods {
		m := &methods[i]
		m.Codes = append(m.Codes, s.Codes.list()...)
		m.ReadOnly, m.Idempotent, m.OpenWorld = true, true, true
		run := m.Run
		m.Run = func(ctx context.Context, params json.RawMessage) (any, error) {
			result, err := run(ctx, params)
			if err != nil {
				return nil, err
			}
			return s.client.Clean(result)
		}
	}
	return domain.Domain{
		Name: s.Name, About: s.About, Methods: methods,
		Health: func(context.Context) domain.Health {
			if !s.usable() {
				return domain.Health{Details: "no token: " + s.TokenAdvice}
			}
			return domain.Health{OK: true}
		},
		Close: func() error {
			s.client.Close()
			return nil
		},
	}
}

func (s *Service) usable() bool { return s.client.token != "" || s.Anonymous }

// Call sends a request and decodes its answer like [Client.Do]. Its errors have the codes of the service.
func (s *Service) Call(ctx context.Context, r Request, answer any) (http.Header, error) {
	if !s.usable() {
		return nil, domain.Fail(s.Codes.NoToken, s.TokenAdvice, nil)
	}
	header, err := s.client.Do(ctx, r, answer)
	if err != nil {
		return nil, s.Codes.Fail(err)
	}
	return header, nil
}

// Malformed returns the error for an answer without a required part.
func (s *Service) Malformed(part string) error {
	return domain.Fail(s.Codes.Parse, "the answer has no "+part, nil)
}

// Invalid returns the error for invalid parameters.
func (s *Service) Invalid(format string, args ...any) error {
	return domain.Fail(s.Codes.Invalid, fmt.Sprintf(format, args...), nil)
}
