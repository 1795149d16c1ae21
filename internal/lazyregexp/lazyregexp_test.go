package lazyregexp_test

import (
	"sync"
	"testing"

	"github.com/candor-mcp/candor/internal/lazyregexp"
)

func TestMethodsMatchLikeRegexp(t *testing.T) {
	t.Parallel()
	re := lazyregexp.New(`(a+)b`)
	if !re.MatchString("xaab") || re.MatchString("b") || !re.Match([]byte("ab")) {
		t.Error("wrong match")
	}
	if got := re.FindStringSubmatch("xaab"); len(got) != 2 || got[1] != "aa" {
		t.Errorf("FindStringSubmatch = %q", got)
	}
	if got := re.ReplaceAllString("aab", "<$1>"); got != "<aa>" {
		t.Errorf("ReplaceAllString = %q", got)
	}
}

func TestConcurrentFirstUse(t *testing.T) {
	t.Parallel()
	var re lazyregexp.Regexp // not compiled by New; the empty pattern matches everything
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if !re.MatchString("x") {
				t.Error("no match")
			}
		})
	}
	wg.Wait()
}

// TestWrongPatternPanicsInTests: a wrong pattern must not wait for its first use in production.
func TestWrongPatternPanicsInTests(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("New accepted a wrong pattern")
		}
	}()
	lazyregexp.New(`(`)
}
