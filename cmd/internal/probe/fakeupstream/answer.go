package fakeupstream

import (
	"io"
	"net/http"
	"strconv"
)

// maxBody is how much of a request body is read before the answer: a client that is cut off while sending does not see it.
const maxBody = 1 << 20

// answer is the response of the upstream with one fault, as real services write it.
type answer struct {
	status int
	header map[string]string
	body   string
}

const (
	asJSON = "application/json; charset=utf-8"
	asHTML = "text/html; charset=utf-8"
)

// refusal returns an error as APIs write them. The delay is only in the header, so that a server that only copies the text loses it.
func refusal(status int, code, message string, header map[string]string) answer {
	return answer{status: status, header: header,
		body: `{"error":{"code":"` + code + `","message":"` + message + `","status":` + strconv.Itoa(status) + `}}` + "\n"}
}

var answers = map[string]answer{
	"": {status: http.StatusOK, body: "{}\n"},
	Unauthorized: refusal(http.StatusUnauthorized, "invalid_token", "The access token is invalid or has expired.",
		map[string]string{"WWW-Authenticate": `Bearer realm="api", error="invalid_token"`}),
	Forbidden: refusal(http.StatusForbidden, "insufficient_permissions", "The token has no permission for this operation.", nil),
	NotFound:  refusal(http.StatusNotFound, "resource_not_found", "The requested resource was not found.", nil),
	Conflict:  refusal(http.StatusConflict, "conflict", "The resource was changed by somebody else.", nil),
	Invalid:   refusal(http.StatusUnprocessableEntity, "validation_failed", "The request was understood and cannot be processed.", nil),
	RateLimited: refusal(http.StatusTooManyRequests, "rate_limit_exceeded", "Too many requests. Slow down.",
		map[string]string{"Retry-After": strconv.Itoa(RateLimitedAfter), "X-RateLimit-Remaining": "0"}),
	Broken: {status: http.StatusInternalServerError, header: map[string]string{"Content-Type": asHTML, "Server": "nginx"},
		body: "<html>\r\n<head><title>500 Internal Server Error</title></head>\r\n<body>\r\n<center><h1>500 Internal Server Error</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"},
	Unavailable: refusal(http.StatusServiceUnavailable, "service_unavailable", "The service is down for maintenance.",
		map[string]string{"Retry-After": strconv.Itoa(UnavailableAfter)}),
	LoginPage: {status: http.StatusOK, header: map[string]string{"Content-Type": asHTML},
		body: "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Sign in</title></head>\n<body><h1>Sign in</h1>\n" +
			"<form method=\"post\" action=\"/login\"><label>Email <input name=\"email\"></label> <label>Password <input name=\"password\" type=\"password\"></label>\n" +
			"<button>Continue</button></form></body></html>\n"},
	Garbage: {status: http.StatusOK, body: "\x00\x01{\"data\": [1, 2,, <<<garbage>>> \xff\xfe\n"},
}

// ServeHTTP answers with the current fault. It closes the connection, so that no client meets the next fault on the same connection.
func (s *stage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	now := s.now()
	s.report(sawRequest)
	_, _ = io.CopyN(io.Discard, r.Body, maxBody) // a client that disconnects does not read the answer
	if now.fault == Slow {
		select {
		case <-now.over: // the connection is closed by now
		case <-r.Context().Done():
		}
		return
	}
	a, known := answers[now.fault]
	if !known {
		a = answers[""]
	}
	w.Header().Set("Content-Type", asJSON)
	w.Header().Set("Connection", "close")
	for name, value := range a.header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, a.body)
}
