package telemetry

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	otellog "go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/metric"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	meterotel "github.com/candor-mcp/candor/adapters/otel"
	"github.com/candor-mcp/candor/cmd/internal/telemetry/otlp"
	"github.com/candor-mcp/candor/internal/ref"
	"github.com/candor-mcp/candor/meter"
)

// scope is the instrumentation scope of the metrics and logs of this package.
const scope = "github.com/candor-mcp/candor/cmd/candor"

// Export sends spans, metrics and logs to an OTLP receiver. A receiver that is slow or down costs telemetry, which is counted, but
// never delays a call.
type Export struct {
	log       *slog.Logger // where problems of the export are reported; not exported itself
	transport string

	tracer   *meterotel.Tracer       // nil if traces are off
	duration metric.Float64Histogram // nil if metrics are off
	logs     *sdklog.LoggerProvider  // nil if logs are off
	records  otellog.Logger          // of logs
	stop     []func(context.Context) error
	queues   map[otlp.Signal]*queue
	labels   struct{ servers, tools, methods labels }

	lastReport atomic.Int64 // when a problem was logged last, in nanoseconds
}

// Options configures [Start].
type Options struct {
	Getenv    func(string) string
	Version   string
	Transport string // between client and gateway: "pipe" or "tcp"
	Counts    *meter.Meter
	Log       *slog.Logger
}

// defaultQueue is the number of spans, and of log records, that may wait: the default of the SDK.
const defaultQueue = 2048

// Start starts the export that the environment asks for. It returns nil if it asks for none, or only for what is not supported,
// which is logged: a variable that is meant for another program must not stop this one.
func Start(o Options) *Export {
	if !otlp.Wanted(o.Getenv) {
		return nil
	}
	e := &Export{log: o.Log, transport: o.Transport, queues: map[otlp.Signal]*queue{}}
	for _, l := range []*labels{&e.labels.servers, &e.labels.tools, &e.labels.methods} {
		l.limit = 200
	}
	from := newResource(o.Version)
	for signal, start := range map[otlp.Signal]func(otlp.Settings, *resource.Resource, Options) error{
		otlp.Traces: e.startTraces, otlp.Metrics: e.startMetrics, otlp.Logs: e.startLogs,
	} {
		settings, on, err := otlp.Read(o.Getenv, signal)
		if on {
			err = start(settings, from, o)
		}
		if err != nil {
			o.Log.Warn("telemetry is not exported", slog.String("signal", string(signal)), slog.String("reason", err.Error()))
		}
	}
	if len(e.stop) == 0 {
		return nil
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(e.report))
	return e
}

// newResource describes this process. Variables override the name; malformed ones are ignored.
func newResource(version string) *resource.Resource {
	r, _ := resource.New(context.Background(), resource.WithAttributes(
		attribute.String("service.name", "candor"), attribute.String("service.version", version), attribute.String("service.instance.id", ref.New()),
	), resource.WithTelemetrySDK(), resource.WithFromEnv())
	return r
}

// queueSize returns the size of the queue that a variable of the SDK sets.
func queueSize(getenv func(string) string, name string) int64 {
	if n, err := strconv.ParseInt(getenv(name), 10, 32); err == nil && n > 0 {
		return n
	}
	return defaultQueue
}

func (e *Export) startTraces(s otlp.Settings, from *resource.Resource, o Options) error {
	q := &queue{limit: queueSize(o.Getenv, "OTEL_BSP_MAX_QUEUE_SIZE")}
	batch := sdktrace.NewBatchSpanProcessor(spanExporter{otlp.NewSpanExporter(s), q})
	provider := sdktrace.NewTracerProvider(sdktrace.WithResource(from), sdktrace.WithSpanProcessor(spanQueue{batch, q}))
	e.tracer, e.queues[otlp.Traces] = meterotel.NewTracer(provider), q
	e.stop = append(e.stop, provider.Shutdown)
	return nil
}

func (e *Export) startLogs(s otlp.Settings, from *resource.Resource, o Options) error {
	q := &queue{limit: queueSize(o.Getenv, "OTEL_BLRP_MAX_QUEUE_SIZE")}
	batch := sdklog.NewBatchProcessor(logExporter{otlp.NewLogExporter(s), q})
	e.logs = sdklog.NewLoggerProvider(sdklog.WithResource(from), sdklog.WithProcessor(logQueue{batch, q}))
	e.records, e.queues[otlp.Logs] = e.logs.Logger(scope), q
	e.stop = append(e.stop, e.logs.Shutdown)
	return nil
}

func (e *Export) startMetrics(s otlp.Settings, from *resource.Resource, o Options) error {
	reader := sdkmetric.NewPeriodicReader(otlp.NewMetricExporter(s))
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithResource(from), sdkmetric.WithReader(reader))
	if _, err := meterotel.Register(o.Counts, provider); err != nil {
		return err
	}
	source := provider.Meter(scope)
	var err error
	if e.duration, err = source.Float64Histogram("mcp.server.operation.duration", metric.WithUnit("s"), metric.WithExplicitBucketBoundaries(Buckets...),
		metric.WithDescription("Time from a call to its answer.")); err != nil {
		return err
	}
	_, err = source.Int64ObservableCounter("candor.telemetry.dropped", metric.WithUnit("{item}"),
		metric.WithDescription("Spans and log records that were not exported."), metric.WithInt64Callback(e.observeDropped))
	e.stop = append(e.stop, provider.Shutdown)
	return err
}

func (e *Export) observeDropped(_ context.Context, observer metric.Int64Observer) error {
	for signal, q := range e.queues {
		observer.Observe(int64(q.lost(false)), metric.WithAttributes(attribute.String("signal", string(signal)))) //nolint:gosec // a count
	}
	return nil
}

// Dropped returns the spans and log records that were not exported, by signal.
func (e *Export) Dropped() map[string]uint64 {
	if e == nil {
		return nil
	}
	all := map[string]uint64{}
	for signal, q := range e.queues {
		all[string(signal)] = q.lost(false)
	}
	return all
}

// reportInterval is the shortest time between two log lines about problems of the export.
const reportInterval = time.Minute

// report logs a problem of the export, but not every one: a receiver that is down fails every few seconds.
func (e *Export) report(err error) {
	now, last := time.Now().UnixNano(), e.lastReport.Load()
	if now-last < int64(reportInterval) || !e.lastReport.CompareAndSwap(last, now) {
		return
	}
	e.log.Warn("exporting telemetry failed", slog.String("reason", err.Error()))
}

// ShutdownTimeout bounds the last export at the end of the program.
const ShutdownTimeout = 2 * time.Second

// Shutdown exports what is left, for at most [ShutdownTimeout], and logs how much was lost. A nil Export has nothing to do.
func (e *Export) Shutdown() {
	if e == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), ShutdownTimeout)
	defer cancel()
	var all sync.WaitGroup
	errs := make([]error, len(e.stop))
	for i, stop := range e.stop {
		all.Go(func() { errs[i] = stop(ctx) })
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		all.Wait()
	}()
	select {
	case <-ended:
	case <-time.After(ShutdownTimeout + ShutdownTimeout/4): // an exporter ignores its context
	}
	for _, signal := range []otlp.Signal{otlp.Traces, otlp.Logs} {
		if q := e.queues[signal]; q != nil && q.lost(true) > 0 {
			e.log.Warn("telemetry was lost", slog.String("signal", string(signal)), slog.Uint64("items", q.lost(true)))
		}
	}
}
