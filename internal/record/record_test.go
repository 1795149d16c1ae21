package record_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/record"
)

// fakeSinks is a ledger and a meter that note the order in which they are called.
type fakeSinks struct {
	calls  []string
	refuse error
	while  func(context.Context) error // replaces RecordFailure if set
	log    bytes.Buffer
}

func (s *fakeSinks) RecordFailure(ctx context.Context, _ candor.Failure) error {
	if s.while != nil {
		return s.while(ctx)
	}
	s.calls = append(s.calls, "record")
	return s.refuse
}

func (s *fakeSinks) Count(_ *candor.Error, verdict string) {
	s.calls = append(s.calls, "count "+verdict)
}
func (s *fakeSinks) CountSuppressed() { s.calls = append(s.calls, "suppressed") }
func (s *fakeSinks) CountUnrecorded(e *candor.Error) {
	s.calls = append(s.calls, "unrecorded "+e.Code().Symbol())
}

var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func (s *fakeSinks) edge() record.Recorder {
	return record.Recorder{
		By: candor.PartyGateway, Ledger: s, Meter: s, Logger: slog.New(slog.NewTextHandler(&s.log, nil)),
		Now: func() time.Time { return noon }, Ref: func() string { return "r1" },
	}
}

func (s *fakeSinks) failure(silent bool) *candor.Failure {
	f := &candor.Failure{Error: s.edge().Stamp(candor.New(candor.CodeNotFound, ""), record.CallSite{Tool: "read", Session: "s1"}), Verdict: "tool"}
	if !silent {
		f.Sent = []byte("{}")
	}
	return f
}

func TestRecordBeforeCount(t *testing.T) {
	attempt := new(fakeSinks).failure(false)
	attempt.Retried = true
	for name, row := range map[string]struct {
		failure *candor.Failure
		want    []string
	}{
		"answer":     {new(fakeSinks).failure(false), []string{"record", "count tool"}},
		"no answer":  {new(fakeSinks).failure(true), []string{"record", "count tool", "suppressed"}},
		"an attempt": {attempt, []string{"record"}},
	} {
		s := &fakeSinks{}
		if instead := s.edge().Record(t.Context(), row.failure); instead != nil {
			t.Errorf("%s: %v is to be sent instead", name, instead)
		}
		if !slices.Equal(s.calls, row.want) {
			t.Errorf("%s: happened %q, want %q", name, s.calls, row.want)
		}
	}
}

func TestRecordCountsSuppressedIfClientLeaves(t *testing.T) {
	s := &fakeSinks{}
	edge := s.edge()
	edge.Gone = new(atomic.Bool)
	s.while = func(context.Context) error { edge.Gone.Store(true); return nil }
	if instead := edge.Record(t.Context(), s.failure(false)); instead != nil {
		t.Errorf("%v is to be sent instead", instead)
	}
	if want := []string{"count tool", "suppressed"}; !slices.Equal(s.calls, want) {
		t.Errorf("happened %q, want %q", s.calls, want)
	}
}

func TestRecordIgnoresCancelledContext(t *testing.T) {
	s := &fakeSinks{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.while = context.Context.Err
	if instead := s.edge().Record(ctx, s.failure(true)); instead != nil {
		t.Errorf("%v is to be sent instead", instead)
	}
}

func TestUnrecordedFailureClaimsNoEffect(t *testing.T) {
	for name, row := range map[string]struct {
		refuse error
		code   candor.Code
	}{
		"any error":          {errors.New("the disk is gone"), candor.CodeLedgerFailed},
		"an error with code": {candor.New(candor.CodeTimeout, ""), candor.CodeLedgerFailed},
		"the ledger's own":   {candor.New(candor.CodeLedgerFailed, ""), candor.CodeLedgerFailed},
		"the ledger's lock":  {candor.New(candor.CodeLedgerLocked, ""), candor.CodeLedgerLocked},
	} {
		s := &fakeSinks{refuse: row.refuse}
		e := s.edge().Record(t.Context(), s.failure(false))
		if e == nil {
			t.Errorf("%s: the failure may be sent", name)
			continue
		}
		if e.Code() != row.code || e.Retry().Retryable() || strings.Contains(e.Message(), "not done") || strings.Contains(e.Suggestion(), "same call again") {
			t.Errorf("%s: sent %v, %v, %s", name, e, e.Retry(), e.Suggestion())
		}
		if was := e.Details().Get("code").String(); was != `"candor/NOT_FOUND"` || e.Ref() != "r1" || e.CallInfo().Tool != "read" || e.Origin().By != candor.PartyGateway {
			t.Errorf("%s: lost what was known: code %q, ref %q, %+v, by %v", name, was, e.Ref(), e.CallInfo(), e.Origin())
		}
		if want := []string{"record", "unrecorded " + row.code.Symbol()}; !slices.Equal(s.calls, want) {
			t.Errorf("%s: happened %q, want %q", name, s.calls, want)
		}
		if log := s.log.String(); strings.Count(log, "could not be recorded") != 1 || !strings.Contains(log, "ref=r1") {
			t.Errorf("%s: logged %q", name, log)
		}
	}
}

func TestStampOverwritesOnlyForTrustedSite(t *testing.T) {
	edge := new(fakeSinks).edge()
	bare := candor.New(candor.CodeNotFound, "")
	said := bare.With(candor.WithRef("theirs"), candor.WithTime(noon.Add(-time.Hour)), candor.WithTool("write"), candor.WithSession("s9", "admin", "/w"))
	for name, row := range map[string]struct {
		e                  *candor.Error
		place              record.CallSite
		ref, tool, session string
	}{
		"nothing said":          {bare, record.CallSite{Tool: "read", Session: "s1"}, "r1", "read", "s1"},
		"said":                  {said, record.CallSite{Tool: "read", Session: "s1"}, "theirs", "write", "s9"},
		"said, sure":            {said, record.CallSite{Tool: "read", Session: "s1", Trusted: true}, "theirs", "read", "s1"},
		"said, surely no place": {said, record.CallSite{Trusted: true}, "theirs", "", ""},
		"said, nothing known":   {said, record.CallSite{}, "theirs", "write", "s9"},
	} {
		e := edge.Stamp(row.e, row.place)
		if at := e.CallInfo(); e.Ref() != row.ref || at.Tool != row.tool || at.SessionID != row.session || e.Time().IsZero() {
			t.Errorf("%s: ref %q, tool %q, session %q, time %v", name, e.Ref(), at.Tool, at.SessionID, e.Time())
		}
		if row.e == said && e.CallInfo().Role != "admin" {
			t.Errorf("%s: the role is lost", name)
		}
	}
}
