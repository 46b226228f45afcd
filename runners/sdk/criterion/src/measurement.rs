//! What benchmark files may name of criterion's measurements. Nothing here measures: Perbyte's clock does.

use crate::Throughput;
use std::time::{Duration, Instant};

/// As in criterion. Its methods are never called.
pub trait ValueFormatter {
    fn format_value(&self, value: f64) -> String {
        value.to_string()
    }
    fn format_throughput(&self, _throughput: &Throughput, value: f64) -> String {
        value.to_string()
    }
    fn scale_values(&self, typical_value: f64, values: &mut [f64]) -> &'static str;
    fn scale_throughputs(&self, typical_value: f64, throughput: &Throughput, values: &mut [f64]) -> &'static str;
    fn scale_for_machines(&self, values: &mut [f64]) -> &'static str;
}

/// As in criterion. Its methods are never called.
pub trait Measurement {
    type Intermediate;
    type Value;
    fn start(&self) -> Self::Intermediate;
    fn end(&self, i: Self::Intermediate) -> Self::Value;
    fn add(&self, v1: &Self::Value, v2: &Self::Value) -> Self::Value;
    fn zero(&self) -> Self::Value;
    fn to_f64(&self, value: &Self::Value) -> f64;
    fn formatter(&self) -> &dyn ValueFormatter;
}

/// The measurement that files name where they name none.
pub struct WallTime;

struct Nanoseconds;

impl ValueFormatter for Nanoseconds {
    fn scale_values(&self, _: f64, _: &mut [f64]) -> &'static str {
        "ns"
    }
    fn scale_throughputs(&self, _: f64, _: &Throughput, _: &mut [f64]) -> &'static str {
        "ns"
    }
    fn scale_for_machines(&self, _: &mut [f64]) -> &'static str {
        "ns"
    }
}

impl Measurement for WallTime {
    type Intermediate = Instant;
    type Value = Duration;
    fn start(&self) -> Instant {
        Instant::now()
    }
    fn end(&self, begun: Instant) -> Duration {
        begun.elapsed()
    }
    fn add(&self, one: &Duration, other: &Duration) -> Duration {
        *one + *other
    }
    fn zero(&self) -> Duration {
        Duration::ZERO
    }
    fn to_f64(&self, value: &Duration) -> f64 {
        value.as_nanos() as f64
    }
    fn formatter(&self) -> &dyn ValueFormatter {
        &Nanoseconds
    }
}
