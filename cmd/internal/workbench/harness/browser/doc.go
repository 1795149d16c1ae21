// Package browser drives the Chromium of the machine for the domains "playwright" and "puppeteer", which differ only in
// the names of their methods and codes.
//
// Each session is a separate Chromium process with a private profile, below a guard that ends it with this process.
// Pages are hostile:
//
//   - All traffic goes through a proxy in this process that connects to allowed addresses only, see [netpolicy]. Chromium cannot resolve
//     names itself, so that nothing bypasses the proxy by name, and it uses neither QUIC nor UDP for WebRTC.
//   - Only http and https pages are opened. New windows and downloads are denied, dialogs are dismissed, permissions are refused.
//   - Time, memory, traffic and the size of all results are limited. A session without calls expires.
//   - Text of a page is returned in a member named page, without control characters and invisible characters, and never in an error.
//
// The package communicates with Chromium over the pipe transport of chromedp with the types of cdproto. It does not use
// the targets of chromedp, which mirror the whole document and queue events without a limit, both of which a hostile
// page could use to exhaust memory.
package browser
