package ledger

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/segment/format"
)

func TestK15EntryIsDurableBeforeAppendReturns(t *testing.T) {
	s := newFaulty(t, t.TempDir())
	l := openTest(t, "", Options{storage: s})
	for i := range 20 {
		before := s.count("sync " + format.ActiveSegment)
		gate := make(chan struct{})
		s.set(func(act, name string) error {
			if act == "sync" && name == format.ActiveSegment {
				<-gate
			}
			return nil
		})
		done := make(chan error, 1)
		go func() {
			_, err := l.Append(context.Background(), Entry{Kind: KindFailure})
			done <- err
		}()
		select {
		case <-done:
			t.Fatal("Append returned while the sync was still running")
		case <-time.After(2 * time.Millisecond):
		}
		close(gate)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if s.count("sync "+format.ActiveSegment) <= before {
			t.Fatalf("append %d returned without a sync", i)
		}
	}
}

func TestUntouchedLedgerVerifiesByHand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := openTest(t, dir, Options{})
	first := appendN(t, l, 1)
	full, err := l.Append(context.Background(), fullEntry())
	if err != nil {
		t.Fatal(err)
	}
	appendN(t, l, 600)
	closeTest(t, l)

	chain := chainsOf(t, dir)[0]
	lines := fileOf(t, dir, chain, format.ActiveSegment)
	entries := byHand(t, chain, lines)
	if got := entries[0]; got.Kind != "setting" || got.Data.Policy != "closed" {
		t.Errorf("the first entry is %+v", got)
	}
	if first.Chain != chain || first.Seq != 2 || entries[1].Hash != first.Hash {
		t.Errorf("the receipt %+v does not name its entry", first)
	}
	if at := entries[2].Time; full.Time.Format(format.TimeLayout) != at {
		t.Errorf("the receipt says %v, the entry %v", full.Time, at)
	}
	last := entries[len(entries)-1]
	if last.Kind != "checkpoint" || !last.Data.Closed {
		t.Errorf("the last entry does not close the chain: %+v", last)
	}
	sizes := checkNotes(t, fileOf(t, dir, chain, format.CheckpointsFile), l.PublicKey(), lines)
	if !slices.IsSorted(sizes) || sizes[len(sizes)-1] != int64(len(entries)-1) {
		t.Errorf("checkpoints cover %v of %d entries", sizes, len(entries))
	}
	covered := int64(0)
	for _, size := range sizes {
		if size-covered > maxUncovered {
			t.Errorf("%d entries without a checkpoint behind entry %d", size-covered, covered)
		}
		covered = size
	}
}

func TestMemberOrder(t *testing.T) {
	e := fullEntry()
	e.Role, e.WorkspaceRoot, e.PlanHash, e.PhaseID, e.InvariantID = "r", "/srv/app", "p", "f", "i"
	e.Cause, e.Attempt, e.Data = "boom", 2, candor.DetailsOf(map[string]int{"n": 1})
	body, err := newEncoder(make([]byte, format.DigestSize)).appendBody(nil, &e)
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(strings.NewReader("{" + string(body[1:]) + "}"))
	var names []string
	for depth := 0; ; {
		token, err := decoder.Token()
		if err != nil {
			break
		}
		switch v := token.(type) {
		case json.Delim:
			depth += map[json.Delim]int{'{': 1, '[': 1, '}': -1, ']': -1}[v]
		case string:
			if depth == 1 {
				names = append(names, v)
				var skip json.RawMessage
				if err := decoder.Decode(&skip); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	want := strings.Fields(`kind ref call tool code domain number class origin retry session_id role workspace_root plan_hash phase_id
		invariant_id args cause outcome attempt latency_us upstream envelope data`)
	if !slices.Equal(names, want) {
		t.Errorf("members\n%v, want\n%v", names, want)
	}
}

func TestConcurrentAppendsShareSync(t *testing.T) {
	dir := t.TempDir()
	s := newFaulty(t, dir)
	l := openTest(t, "", Options{storage: s})
	s.set(func(act, name string) error {
		if act == "sync" && name == format.ActiveSegment {
			time.Sleep(time.Millisecond) // long enough for other callers to queue
		}
		return nil
	})
	const callers, each = 64, 25
	receipts := make([][]Receipt, callers)
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			for range each {
				r, err := l.Append(context.Background(), Entry{Kind: KindSuccess})
				if err != nil {
					t.Error(err)
					return
				}
				receipts[i] = append(receipts[i], r)
			}
		})
	}
	all.Wait()
	counts := l.Stats()
	closeTest(t, l)
	if counts.Batches*4 > counts.Appended {
		t.Errorf("%d entries took %d syncs", counts.Appended, counts.Batches)
	}
	chain := chainsOf(t, dir)[0]
	entries := byHand(t, chain, fileOf(t, dir, chain, format.ActiveSegment))
	seen := map[uint64]bool{}
	for _, own := range receipts {
		for i, r := range own {
			if seen[r.Seq] || entries[r.Seq-1].Hash != r.Hash || i > 0 && own[i-1].Seq >= r.Seq {
				t.Fatalf("receipt %+v is not unique, not in order, or names another entry", r)
			}
			seen[r.Seq] = true
		}
	}
	if len(seen) != callers*each {
		t.Errorf("%d receipts, want %d", len(seen), callers*each)
	}
}

func TestAppendCancelledBeforeWrite(t *testing.T) {
	dir := t.TempDir()
	s := newFaulty(t, dir)
	l := openTest(t, "", Options{storage: s})
	entered, gate := make(chan struct{}), make(chan struct{})
	var once sync.Once
	s.set(func(act, name string) error {
		if act == "sync" && name == format.ActiveSegment {
			once.Do(func() { close(entered) })
			<-gate
		}
		return nil
	})
	ctx, cancel := context.WithCancel(context.Background())
	written, queued := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := l.Append(ctx, Entry{Kind: KindFailure, Tool: "written"})
		written <- err
	}()
	<-entered
	go func() {
		_, err := l.Append(ctx, Entry{Kind: KindFailure, Tool: "queued"})
		queued <- err
	}()
	waitFor(t, func() bool { return l.queue.len() > 0 })
	cancel()
	err := <-queued
	wantFault(t, err, candor.CodeLedgerFailed)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v does not say that the caller gave up", err)
	}
	select {
	case err := <-written:
		t.Errorf("the one being written was answered before its sync: %v", err)
	case <-time.After(5 * time.Millisecond):
	}
	close(gate)
	if err := <-written; err != nil {
		t.Errorf("the one being written: %v", err)
	}
	closeTest(t, l)
	lines := string(fileOf(t, dir, chainsOf(t, dir)[0], format.ActiveSegment))
	if !strings.Contains(lines, `"written"`) || strings.Contains(lines, `"queued"`) {
		t.Errorf("not the receipts of the callers:\n%s", lines)
	}
}

func TestK21SecretsNeverReachTheDisk(t *testing.T) {
	const (
		token    = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
		password = "hunter2-hunter2"
	)
	dir, second := t.TempDir(), t.TempDir()
	l := openTest(t, dir, Options{WitnessCopy: filepath.Join(second, "checkpoints"), MaxSegmentBytes: 8 << 10})
	args := []byte(`{"token":"` + token + `"}`)
	kept := slices.Clone(args)
	said := []byte(`{"error":"login with password=` + password + ` and Bearer ` + token + ` failed in /home/ann/private/app.go"}`)
	keptSaid := slices.Clone(said)
	sent := bytes.Replace(said, []byte("/home/ann/private/"), nil, 1) // paths in sent envelopes are kept because the client has seen them
	e := Entry{
		Kind: KindFailure, Tool: "t " + token, Ref: token, Args: args, Cause: "password=" + password, WorkspaceRoot: "/home/ann/private",
		Upstream: said, Envelope: sent, Data: candor.DetailsOf(map[string]string{"api_key": token}),
	}
	for range 20 {
		if _, err := l.Append(context.Background(), e); err != nil {
			t.Fatal(err)
		}
		f, err := l.Reserve(context.Background(), e)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Complete(context.Background(), e); err != nil {
			t.Fatal(err)
		}
	}
	closeTest(t, l)
	if !slices.Equal(args, kept) || !slices.Equal(said, keptSaid) {
		t.Error("the caller's bytes were changed")
	}
	for _, root := range []string{dir, second} {
		err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text := string(fileOf(t, path))
			for _, secret := range []string{token, password, "/home/ann", string(args)} {
				if strings.Contains(text, secret) {
					t.Errorf("%s holds %q", filepath.Base(path), secret)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestLongTextIsCutBetweenRunes(t *testing.T) {
	for _, text := range []string{strings.Repeat("é", maxText), strings.Repeat("x", 10*maxText), strings.Repeat("a\xff", maxText)} {
		body, err := newEncoder(make([]byte, format.DigestSize)).appendBody(nil, &Entry{Kind: KindFailure, Upstream: []byte(text)})
		if err != nil {
			t.Fatal(err)
		}
		var r Record
		if err := json.Unmarshal([]byte("{"+string(body[1:])+"}"), &r); err != nil {
			t.Fatal(err)
		}
		u := r.Upstream
		if len(u.Text) > maxText || !strings.HasSuffix(u.Text, cutMark) || !u.Cut || u.Bytes != int64(len(text)) {
			t.Errorf("%d bytes of %d, cut %v", len(u.Text), u.Bytes, u.Cut)
		}
		if u.Digest != "sha256:"+format.Digest(sha256.Sum256([]byte(u.Text))).String() {
			t.Errorf("the digest is not that of the text")
		}
	}
}

func TestFileModes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "ledger")
	l := openTest(t, dir, Options{WitnessCopy: filepath.Join(t.TempDir(), "second")})
	appendN(t, l, 3)
	closeTest(t, l)
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		want := os.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		} else if strings.HasSuffix(path, ".pub") {
			want = 0o644
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", path, info.Mode().Perm(), want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestOpenWarnsOfReadableFolder(t *testing.T) {
	for mode, want := range map[os.FileMode]int{0o755: 1, 0o700: 0} {
		dir, warned := t.TempDir(), 0
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		closeTest(t, openTest(t, dir, Options{OnWarning: func(w Warning) {
			if w.Kind == warningPermissions {
				warned++
			}
		}}))
		if warned != want {
			t.Errorf("mode %o: warned %d times", mode, warned)
		}
	}
}

func TestCloseTwice(t *testing.T) {
	l := openTest(t, t.TempDir(), Options{})
	appendN(t, l, 1)
	closeTest(t, l)
	closeTest(t, l)
	_, err := l.Append(context.Background(), Entry{Kind: KindFailure})
	wantFault(t, err, candor.CodeLedgerFailed)
	if !errors.Is(err, os.ErrClosed) {
		t.Errorf("%v does not say closed", err)
	}
}

func TestInvalidOptions(t *testing.T) {
	for _, o := range []Options{{Instance: "a/b"}, {Instance: strings.Repeat("a", 65)}} {
		_, err := Open(t.TempDir(), o)
		wantFault(t, err, candor.CodeLedgerFailed)
	}
	l := openTest(t, t.TempDir(), Options{})
	if _, err := l.Append(context.Background(), Entry{Kind: "nonsense"}); err == nil {
		t.Error("an unknown kind was recorded")
	}
}

func TestRecordTextReadsOlderEntries(t *testing.T) {
	var old, short RecordText
	err := errors.Join(json.Unmarshal([]byte(`{"text":"x","bytes":9,"cut":true,"digest":"sha256:00"}`), &old), json.Unmarshal([]byte(`{"text":"abc"}`), &short))
	if err != nil || old.Bytes != 9 || old.Digest != "sha256:00" || short.Bytes != 3 || short.Digest != "sha256:"+sumOf([]byte("abc")) {
		t.Errorf("%+v, %+v, %v", old, short, err)
	}
}
