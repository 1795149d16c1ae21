package otlp

import (
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	commonpb "go.opentelemetry.io/proto/slim/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/slim/otlp/resource/v1"
)

// nanos returns a time as OTLP writes it; 0 if it is zero.
func nanos(t time.Time) uint64 {
	if t.IsZero() {
		return 0
	}
	return uint64(max(0, t.UnixNano())) //nolint:gosec // not negative
}

func resourceOf(r *resource.Resource) *resourcepb.Resource {
	return &resourcepb.Resource{Attributes: attributes(r.Attributes())}
}

func scopeOf(s instrumentation.Scope) *commonpb.InstrumentationScope {
	return &commonpb.InstrumentationScope{Name: s.Name, Version: s.Version}
}

func attributes(list []attribute.KeyValue) []*commonpb.KeyValue {
	out := make([]*commonpb.KeyValue, 0, len(list))
	for _, a := range list {
		out = append(out, &commonpb.KeyValue{Key: string(a.Key), Value: attributeValue(a.Value)})
	}
	return out
}

// attributeValue converts a value. Slices of numbers, which this program does not use, become text.
func attributeValue(v attribute.Value) *commonpb.AnyValue {
	switch v.Type() {
	case attribute.BOOL:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_BoolValue{BoolValue: v.AsBool()}}
	case attribute.INT64:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: v.AsInt64()}}
	case attribute.FLOAT64:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_DoubleValue{DoubleValue: v.AsFloat64()}}
	case attribute.STRING:
		return text(v.AsString())
	case attribute.STRINGSLICE:
		list := &commonpb.ArrayValue{}
		for _, s := range v.AsStringSlice() {
			list.Values = append(list.Values, text(s))
		}
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_ArrayValue{ArrayValue: list}}
	case attribute.MAP:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_KvlistValue{KvlistValue: &commonpb.KeyValueList{Values: attributes(v.AsMap())}}}
	default:
		return text(v.String())
	}
}

func text(s string) *commonpb.AnyValue {
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: s}}
}
