package redact

import "testing"

func TestFrameRecognisesLinesOfStackTraces(t *testing.T) {
	for line, want := range map[string]bool{
		"    at run (/srv/a.js:1:2)":                 true,
		"    at async main (file:///b.js:3:4)":       true,
		"    at /srv/a.js:1:2":                       true,
		"Traceback (most recent call last):":         true,
		"  File \"/srv/x.py\", line 3, in <module>":  true,
		"goroutine 1 [running]:":                     true,
		"\tat com.x.A.b(A.java:10)":                  true,
		"   at X.Y.Z() in C:\\src\\y.cs:line 3":      true,
		"stack backtrace:":                           true,
		"\tfrom b.rb:2:in 'y'":                       true,
		"Stack trace:":                               true,
		"#0 /srv/a.php(12): f()":                     true,
		"#1 {main}":                                  true,
		"":                                           false,
		"TypeError: x is not a function":             false,
		"  at noon":                                  false,
		" at the (first) line here":                  false,
		"#1 in the list":                             false,
		"  #12 open":                                 false,
		"goroutine leak found":                       false,
		"thread 'main' panicked at src/main.rs:2:5:": false,
		"a.rb:1:in 'x': no (RuntimeError)":           false,
		"java.lang.IllegalStateException: no":        false,
	} {
		if got := Frame(line); got != want {
			t.Errorf("Frame(%q) = %t", line, got)
		}
	}
}
