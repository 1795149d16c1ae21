package gateway

import (
	"testing"
	"time"
)

// The faults of R9 over stdio: what each call is told, "" for a clean answer.
var faultCodes = map[string]string{
	"echo": "", "noise": "", "duplicate": "", "crlf": "", "hugenoise": "", "stderrflood": "", "slow": "", "changed": "",
	"fail": "FILE_NOT_FOUND", "flaky": "UPSTREAM_UNAVAILABLE",
	"hang": "CALL_TIMEOUT", "wrongid": "CALL_TIMEOUT", "nullid": "CALL_TIMEOUT", "late": "CALL_TIMEOUT", "halfline": "UPSTREAM_MALFORMED",
	"exit": "UPSTREAM_GONE", "exitzero": "UPSTREAM_GONE", "crash": "UPSTREAM_GONE", "killed": "UPSTREAM_GONE", "half": "UPSTREAM_GONE",
	"mute": "UPSTREAM_GONE", "secret": "UPSTREAM_GONE",
	"both": "UPSTREAM_MALFORMED", "neither": "UPSTREAM_MALFORMED", "request": "UPSTREAM_MALFORMED", "version": "UPSTREAM_MALFORMED",
	"twice": "UPSTREAM_MALFORMED", "baderror": "UPSTREAM_MALFORMED", "batch": "UPSTREAM_MALFORMED", "deep": "UPSTREAM_MALFORMED",
	"utf8": "UPSTREAM_MALFORMED", "control": "UPSTREAM_MALFORMED", "bom": "UPSTREAM_MALFORMED", "huge": "UPSTREAM_MALFORMED",
}

func TestEveryFaultOfAServerGivesOneAnswer(t *testing.T) {
	for fault, code := range faultCodes {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			s := wrapped(t, Options{Timeout: 700 * time.Millisecond}, badChild())
			s.greet()
			s.call(1, fault, `{"ms":5}`)
			if fault == "late" {
				s.call(2, fault, `{"ms":1000}`)
				if got := codeOf(s.answer("1")); got != "" {
					t.Errorf("in time: %s", got)
				}
			} else {
				s.call(2, "echo", `{"text":"others live"}`)
			}
			id := "1"
			if fault == "late" {
				id = "2"
			}
			if fault == "halfline" { // its end is the beginning of the next line
				s.answer("2")
			}
			answer := s.answer(id)
			if got := codeOf(answer); got != code {
				t.Errorf("%s, want %s: %.300s", got, code, answer)
			}
			s.hangUp()
			for line := range s.lines {
				if got, isAnswer := idOf(line); isAnswer && got == id {
					t.Errorf("answered twice: %s", line)
				}
			}
		})
	}
}
