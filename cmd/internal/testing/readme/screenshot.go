package readme

import (
	"context"
	"time"

	"github.com/chromedp/chromedp"
)

// The size of the picture in pixels: the head of the report, and the table of its tools.
const pictureWidth, pictureHeight = 1200, 800

// screenshot returns the upper part of a page as PNG.
func screenshot(ctx context.Context, browser, address string) ([]byte, error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browser),
		chromedp.NoSandbox, // CI runs as root, which the sandbox refuses; the page is trusted
		chromedp.WindowSize(pictureWidth, pictureHeight))
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate(address), chromedp.WaitReady(chromedp.CSS("body"))); err != nil {
		return nil, err
	}
	return chromedp.Run(ctx, chromedp.CaptureScreenshot())
}
