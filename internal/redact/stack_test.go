package redact

import (
	"strings"
	"testing"
)

func TestStackSeparatesTheTraceFromTheMessage(t *testing.T) {
	tests := []struct{ name, text, message, holds string }{
		{"javascript", "TypeError: x is not a function\n    at run (/srv/a.js:1:2)\n    at async main (file:///b.js:3:4)", "TypeError: x is not a function", "a.js"},
		{"javascript without a function", "Error: no\n    at /srv/a.js:1:2", "Error: no", "a.js"},
		{"javascript, escaped", `Error: no\n    at run (/srv/a.js:1:2)\n    at x (y:1:2)`, "Error: no", "a.js"},
		{"python", "Traceback (most recent call last):\n  File \"/srv/x.py\", line 3, in <module>\n    main()\nValueError: bad id", "ValueError: bad id", "x.py"},
		{"python behind a sentence", "job failed\nTraceback (most recent call last):\n  File \"/srv/x.py\", line 3\nKeyError: 'a'\n", "job failed\nKeyError: 'a'", "x.py"},
		{"go", "panic: boom\n\ngoroutine 1 [running]:\nmain.main()\n\t/home/u/main.go:12 +0x1d", "panic: boom", "main.go"},
		{"java", "java.lang.IllegalStateException: no\n\tat com.x.A.b(A.java:10)\n\t... 12 more", "java.lang.IllegalStateException: no", "A.java"},
		{".net", "System.Exception: no\n   at X.Y.Z() in C:\\src\\y.cs:line 3", "System.Exception: no", "y.cs"},
		{"rust", "thread 'main' panicked at src/main.rs:2:5:\nno\nstack backtrace:\n   0: std::panicking", "thread 'main' panicked at src/main.rs:2:5:\nno", "std::panicking"},
		{"ruby", "a.rb:1:in 'x': no (RuntimeError)\n\tfrom b.rb:2:in 'y'", "a.rb:1:in 'x': no (RuntimeError)", "b.rb"},
		{"php", "PHP Fatal error: no\nStack trace:\n#0 /srv/a.php(12): f()\n#1 {main}", "PHP Fatal error: no", "a.php"},
	}
	for _, tt := range tests {
		message, trace := Stack(tt.text)
		if message != tt.message || !strings.Contains(trace, tt.holds) {
			t.Errorf("%s: message %q, trace %q", tt.name, message, trace)
		}
	}
}

func TestStackLeavesOtherTextAlone(t *testing.T) {
	for _, s := range []string{
		"", "no trace", "two\nlines", "The meeting is\n  at noon", "look\n at the (first) line here", "#1 in the list", "goroutine leak found\nsee below",
		"ids:\n  #12 open\n  #13 closed",
	} {
		if message, trace := Stack(s); message != s || trace != "" {
			t.Errorf("%q: message %q, trace %q", s, message, trace)
		}
	}
}
