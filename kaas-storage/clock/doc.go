// Package clock tells the time of day to whoever removes what is old: records, offsets, ids.
//
// A wall clock can be set, and be wrong. Durations within one process therefore rest on the monotonic clock, which time.Now carries along. An age that is counted
// from a stored time of day cannot: when the wall clock leaps forward, everything looks old at once, and what is removed then is gone even if the clock is
// set right a minute later. A [Clock] believes such a leap only after it has stood for an hour. A clock that goes back only keeps things for longer, and is
// believed at once. A process that starts with a wrong clock has nothing to compare it with, and believes it.
package clock
