package httpapi

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/codes/common"
)

// Codes lists the codes of a domain for the failures of its service.
type Codes struct {
	NoToken  candor.Code // no token is configured
	Auth     candor.Code // 401, and 403 that is not a rate limit
	Rate     candor.Code // 429, and 403 that is a rate limit
	NotFound candor.Code // 404 and 410; the zero code is HTTP
	Invalid  candor.Code // 400 and 422
	Network  candor.Code // no answer
	Parse    candor.Code // an answer that cannot be decoded
	HTTP     candor.Code // any other status

	// RateDelay is the retry delay for a rate limit if the service sends none.
	RateDelay time.Duration
	// Quota lists the statuses for an exhausted plan or budget, which a retry does not help. They get the code Rate.
	Quota []int
}

// list returns the codes that every method can return, except E_INVALID_PARAMS, which all methods have.
func (c *Codes) list() (all []candor.Code) {
	for _, code := range []candor.Code{c.NoToken, c.Auth, c.Rate, c.NotFound, c.Invalid, c.Network, c.Parse, c.HTTP, common.Timeout, common.LimitExceeded} {
		if code != 0 && code != common.InvalidParams && !slices.Contains(all, code) {
			all = append(all, code)
		}
	}
	return all
}

// Fail returns the error of a domain for an error of [Client.Do]. Requests only read, so the advice of the catalogue
// applies, except that a delay of the service replaces the default and statuses that a retry does not change are not
// retryable.
func (c Codes) Fail(err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Kind {
	case Unreachable:
		return domain.Fail(c.Network, e.Reason, e.Err)
	case Slow:
		return domain.Fail(common.Timeout, e.Reason, e.Err)
	case Malformed:
		return domain.Fail(c.Parse, e.Reason, e.Err)
	case TooLarge:
		return domain.Fail(common.LimitExceeded, e.Reason, e.Err, candor.WithSuggestion("Ask for less: a smaller limit, one item instead of a list, or a smaller file."))
	case Redirected:
		return domain.Fail(c.HTTP, e.Reason, e.Err, candor.WithRetry(candor.NoRetry()), candor.WithSuggestion(operatorAdvice))
	default:
		return c.refused(e)
	}
}

const operatorAdvice = "Ask the operator to check the configured address of the service."

func (c Codes) refused(e *Error) error {
	switch {
	case slices.Contains(c.Quota, e.Status):
		return domain.Fail(c.Rate, e.Reason, nil,
			candor.WithRetry(candor.NoRetry()), candor.WithSuggestion("Ask the operator to raise the usage limit of the account."))
	case e.Limit && (e.Status == http.StatusTooManyRequests || e.Status == http.StatusForbidden):
		delay := e.RetryAfter
		if delay <= 0 {
			delay = c.RateDelay
		}
		return domain.Fail(c.Rate, e.Reason, nil, candor.WithRetry(candor.RetryIn(delay)))
	case e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden:
		return domain.Fail(c.Auth, e.Reason, nil)
	case (e.Status == http.StatusNotFound || e.Status == http.StatusGone) && c.NotFound != 0:
		return domain.Fail(c.NotFound, e.Reason, nil)
	case e.Status == http.StatusBadRequest || e.Status == http.StatusUnprocessableEntity:
		return domain.Fail(c.Invalid, e.Reason, nil)
	case e.Status >= 500 && e.RetryAfter > 0:
		return domain.Fail(c.HTTP, e.Reason, nil, candor.WithRetry(candor.RetryIn(e.RetryAfter)))
	case e.Status >= 500 || e.Status == http.StatusRequestTimeout || e.Status == http.StatusConflict:
		return domain.Fail(c.HTTP, e.Reason, nil)
	default:
		return domain.Fail(c.HTTP, e.Reason, nil, candor.WithRetry(candor.NoRetry()), candor.WithSuggestion("Change the call, or report this to the operator."))
	}
}
