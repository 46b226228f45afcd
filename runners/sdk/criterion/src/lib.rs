//! The part of criterion's interface that benchmark files of cryptography use, measured by Perbyte.
//!
//! A file sets up and hands a routine over. It is run up to there on a stack of its own and waits; the C SDK calls the
//! routine in a loop that is compiled for it, reads the clock around it, and judges each sample. Statistics, reports and
//! settings of criterion's have no counterpart here: what a file sets is accepted and told as unheeded.

mod bencher;
pub mod measurement;
#[doc(hidden)]
pub mod program;
#[doc(hidden)]
pub mod registry;

pub use bencher::Bencher;
pub use std::hint::black_box;

use measurement::{Measurement, WallTime};
use std::fmt::Display;
use std::marker::PhantomData;
use std::path::Path;
use std::time::Duration;

/// As in criterion. Of bytes a figure per byte is made, of bits by eighths; elements have none.
#[derive(Debug, Clone, PartialEq)]
pub enum Throughput {
    #[cfg(has_bits)]
    Bits(u64),
    Bytes(u64),
    BytesDecimal(u64),
    Elements(u64),
    #[cfg(has_elements_and_bytes)]
    ElementsAndBytes { elements: u64, bytes: u64 },
}

impl Throughput {
    fn bytes(&self) -> Option<u64> {
        match *self {
            Self::Bytes(bytes) | Self::BytesDecimal(bytes) => Some(bytes),
            #[cfg(has_elements_and_bytes)]
            Self::ElementsAndBytes { bytes, .. } => Some(bytes),
            #[cfg(has_bits)]
            Self::Bits(bits) => Some(bits / 8),
            Self::Elements(_) => None,
        }
    }
}

/// As in criterion. Here a sample has as many inputs as calls: one with `PerIteration`, `NumIterations` at the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchSize {
    SmallInput,
    LargeInput,
    PerIteration,
    NumBatches(u64),
    NumIterations(u64),
}

impl BatchSize {
    fn most(self) -> u32 {
        match self {
            Self::PerIteration => 1,
            Self::NumIterations(most) => u32::try_from(most.max(1)).unwrap_or(u32::MAX),
            Self::LargeInput => 1000,
            Self::SmallInput | Self::NumBatches(_) => 0,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SamplingMode {
    Auto,
    Linear,
    Flat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AxisScale {
    Linear,
    Logarithmic,
}

#[derive(Debug, Clone, Default)]
pub struct PlotConfiguration;

impl PlotConfiguration {
    #[must_use]
    pub fn summary_scale(self, _: AxisScale) -> Self {
        self
    }
}

/// As in criterion.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BenchmarkId(String);

impl BenchmarkId {
    pub fn new<S: Into<String>, P: Display>(function_name: S, parameter: P) -> Self {
        Self(format!("{}/{parameter}", function_name.into()))
    }

    pub fn from_parameter<P: Display>(parameter: P) -> Self {
        Self(parameter.to_string())
    }
}

/// As in criterion: what can name a benchmark.
pub trait IntoBenchmarkId {
    fn into_benchmark_id(self) -> BenchmarkId;
}

impl IntoBenchmarkId for BenchmarkId {
    fn into_benchmark_id(self) -> BenchmarkId {
        self
    }
}

impl<S: Into<String>> IntoBenchmarkId for S {
    fn into_benchmark_id(self) -> BenchmarkId {
        BenchmarkId(self.into())
    }
}

/// Settings that are accepted, told and not followed.
macro_rules! unheeded {
    ($self:ty, $back:ty: $($name:ident($($type:ty),*);)*) => { $(
        pub fn $name(self: $self, $(_: $type),*) -> $back {
            registry::leave_unheeded(stringify!($name));
            self
        }
    )* };
}

/// As in criterion.
pub struct Criterion<M: Measurement = WallTime> {
    measurement: PhantomData<M>,
}

impl Default for Criterion {
    fn default() -> Self {
        Self { measurement: PhantomData }
    }
}

impl<M: Measurement> Criterion<M> {
    pub fn bench_function<F: FnMut(&mut Bencher<'_, M>)>(&mut self, id: &str, f: F) -> &mut Self {
        bencher::reach(id, None, f);
        self
    }

    pub fn bench_with_input<F, I: ?Sized>(&mut self, id: BenchmarkId, input: &I, mut f: F) -> &mut Self
    where
        F: FnMut(&mut Bencher<'_, M>, &I),
    {
        bencher::reach(&id.0, None, |bencher| f(bencher, input));
        self
    }

    pub fn benchmark_group<S: Into<String>>(&mut self, group_name: S) -> BenchmarkGroup<'_, M> {
        BenchmarkGroup { name: group_name.into(), bytes: None, criterion: PhantomData }
    }

    /// Any measurement is taken by Perbyte's clock.
    pub fn with_measurement<M2: Measurement>(self, _: M2) -> Criterion<M2> {
        Criterion { measurement: PhantomData }
    }

    #[must_use]
    pub fn configure_from_args(self) -> Self {
        self
    }

    #[must_use]
    pub fn with_plots(self) -> Self {
        self
    }

    #[must_use]
    pub fn without_plots(self) -> Self {
        self
    }

    #[must_use]
    pub fn with_output_color(self, _: bool) -> Self {
        self
    }

    #[must_use]
    pub fn output_directory(self, _: &Path) -> Self {
        self
    }

    pub fn final_summary(&self) {}

    unheeded! { Self, Self:
        sample_size(usize);
        warm_up_time(Duration);
        measurement_time(Duration);
        nresamples(usize);
        noise_threshold(f64);
        confidence_level(f64);
        significance_level(f64);
        save_baseline(String);
        retain_baseline(String, bool);
    }

    pub fn with_filter<S: Into<String>>(self, _: S) -> Self {
        registry::leave_unheeded("with_filter");
        self
    }

    pub fn with_profiler<P>(self, _: P) -> Self {
        registry::leave_unheeded("with_profiler");
        self
    }
}

/// As in criterion.
pub struct BenchmarkGroup<'a, M: Measurement = WallTime> {
    name: String,
    bytes: Option<u64>,
    criterion: PhantomData<&'a mut Criterion<M>>,
}

impl<M: Measurement> BenchmarkGroup<'_, M> {
    pub fn throughput(&mut self, throughput: Throughput) -> &mut Self {
        self.bytes = throughput.bytes();
        self
    }

    pub fn bench_function<ID: IntoBenchmarkId, F: FnMut(&mut Bencher<'_, M>)>(&mut self, id: ID, f: F) -> &mut Self {
        bencher::reach(&self.name_of(id), self.bytes, f);
        self
    }

    pub fn bench_with_input<ID: IntoBenchmarkId, F, I: ?Sized>(&mut self, id: ID, input: &I, mut f: F) -> &mut Self
    where
        F: FnMut(&mut Bencher<'_, M>, &I),
    {
        bencher::reach(&self.name_of(id), self.bytes, |bencher| f(bencher, input));
        self
    }

    pub fn plot_config(&mut self, _: PlotConfiguration) -> &mut Self {
        self
    }

    pub fn finish(self) {}

    fn name_of<ID: IntoBenchmarkId>(&self, id: ID) -> String {
        format!("{}/{}", self.name, id.into_benchmark_id().0)
    }

    unheeded! { &mut Self, &mut Self:
        sample_size(usize);
        warm_up_time(Duration);
        measurement_time(Duration);
        nresamples(usize);
        noise_threshold(f64);
        confidence_level(f64);
        significance_level(f64);
        sampling_mode(SamplingMode);
    }
}

#[macro_export]
macro_rules! criterion_group {
    (name = $name:ident; config = $config:expr; targets = $($target:path),+ $(,)?) => {
        pub fn $name() {
            let mut criterion = $config.configure_from_args();
            $(
                if $crate::registry::enter_target() {
                    $target(&mut criterion);
                }
            )+
        }
    };
    ($name:ident, $($target:path),+ $(,)?) => {
        $crate::criterion_group! {
            name = $name;
            config = $crate::Criterion::default();
            targets = $($target),+
        }
    };
}

#[macro_export]
macro_rules! criterion_main {
    ($($group:path),+ $(,)?) => {
        fn main() {
            $crate::program::main(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"), &[$($group),+]);
        }
    };
}
