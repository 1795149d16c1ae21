package jsontext

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
)

// maxInteger is the length of the longest integer that keeps its digits; RFC 8785 writes larger ones with an exponent.
const maxInteger = 21

// number returns the canonical text of a number: that of an integer, and otherwise of the nearest float64. ok is false if v is
// not a number, or out of the range of float64.
func number(v any) (text string, ok bool) {
	switch v := v.(type) {
	case int:
		return strconv.Itoa(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case uint64:
		return strconv.FormatUint(v, 10), true
	case float64:
		return float(v)
	case json.Number:
		text = string(v)
		if strings.Trim(text, "+-.0123456789eE") != "" || !json.Valid([]byte(text)) {
			return "", false
		}
		if isInteger(text) && len(text) <= maxInteger && text != "-0" {
			return text, true
		}
		f, err := v.Float64()
		if err != nil {
			return "", false
		}
		return float(f)
	}
	return "", false
}

// float formats a number as ECMAScript does, which RFC 8785 asks for.
func float(f float64) (string, bool) {
	if f == 0 {
		return "0", true // also for -0
	}
	text, err := json.Marshal(f)
	return string(text), err == nil
}

func isInteger(text string) bool { return strings.Trim(text, "-0123456789") == "" }

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
	f, _ := strconv.ParseFloat(x, 64) // both are in range
	g, _ := strconv.ParseFloat(y, 64)
	if order = cmp.Compare(f, g); order == 0 && isInteger(x) && isInteger(y) { // they have the same sign
		if order = cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y)); f < 0 {
			order = -order
		}
	}
	return order, true
}

// Int returns the value of a whole number such as 3, 3.0 or 3e2; ok is false for everything else, and beyond ±10^15.
func Int(v any) (n int64, ok bool) {
	const most = 1e15 - 1
	text, ok := number(v)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && -most <= n && n <= most
}
