package jsonvalue

import (
	"cmp"
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// decimal is an exact number: 0.digits × 10^point. The digits have no leading and no trailing zero; zero has no digits.
type decimal struct {
	negative bool
	digits   string
	point    int
}

// maxExponent bounds the exponent of a number. It keeps the arithmetic on exponents far from overflow.
const maxExponent = 1_000_000

// number returns the exact value of v; ok is false if v is not a number, or has an exponent beyond maxExponent.
func number(v any) (d decimal, ok bool) {
	switch v := v.(type) {
	case json.Number:
		return parse(string(v))
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return decimal{}, false
		}
		return parse(strconv.FormatFloat(v, 'e', -1, 64))
	case int:
		return parse(strconv.Itoa(v))
	case int64:
		return parse(strconv.FormatInt(v, 10))
	default:
		return decimal{}, false
	}
}

// parse reads the text of a JSON number.
func parse(text string) (d decimal, ok bool) {
	text, d.negative = strings.CutPrefix(text, "-")
	mantissa, exponent := text, 0
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		var err error
		if exponent, err = strconv.Atoi(text[i+1:]); err != nil || exponent > maxExponent || exponent < -maxExponent {
			return decimal{}, false
		}
		mantissa = text[:i]
	}
	whole, fraction, hasPoint := strings.Cut(mantissa, ".")
	if !isDigits(whole) || len(whole) > 1 && whole[0] == '0' || hasPoint && !isDigits(fraction) {
		return decimal{}, false
	}
	d.point = len(whole) + exponent
	digits := whole + fraction
	trimmed := strings.TrimLeft(digits, "0")
	d.point -= len(digits) - len(trimmed)
	d.digits = strings.TrimRight(trimmed, "0")
	if d.digits == "" {
		return decimal{}, true
	}
	return d, true
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// compare orders two numbers.
func (d decimal) compare(e decimal) int {
	switch ds, es := d.sign(), e.sign(); {
	case ds != es:
		return cmp.Compare(ds, es)
	case ds < 0:
		d, e = e, d
	}
	return cmp.Or(cmp.Compare(d.point, e.point), strings.Compare(d.digits, e.digits))
}

func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	default:
		return 1
	}
}

// IsNumber reports whether v is a number that this package can compare.
func IsNumber(v any) bool {
	_, ok := number(v)
	return ok
}

// Compare returns the order of two numbers, as [cmp.Compare] does; ok is false if one of them is not a number.
func Compare(a, b any) (order int, ok bool) {
	x, xok := number(a)
	y, yok := number(b)
	if !xok || !yok {
		return 0, false
	}
	return x.compare(y), true
}

// Int returns the value of a whole number such as 3, 3.0 or 3e2; ok is false for everything else, and beyond ±10^15.
func Int(v any) (n int64, ok bool) {
	d, ok := number(v)
	if !ok || d.point > 15 || len(d.digits) > max(d.point, 0) {
		return 0, false
	}
	n, err := strconv.ParseInt(d.digits+strings.Repeat("0", d.point-len(d.digits)), 10, 64)
	if d.digits == "" {
		return 0, true
	}
	if d.negative {
		n = -n
	}
	return n, err == nil
}
