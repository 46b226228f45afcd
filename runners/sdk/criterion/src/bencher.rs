//! The routine that a benchmark hands over, and the loop around it that the C SDK calls.

use crate::measurement::{Measurement, WallTime};
use crate::registry::{self, Step};
use crate::BatchSize;
use core::ffi::c_void;
use std::hint::black_box;
use std::marker::PhantomData;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::time::{Duration, Instant};

/// What the C SDK needs of a prepared benchmark. `data` belongs to the stack on which the benchmark waits.
pub struct Plan {
    pub index: usize,
    pub data: *mut c_void,
    pub begin: Option<unsafe fn(*mut c_void, u64)>,
    pub run: Option<unsafe fn(*mut c_void, u64)>,
    pub most: u32,
    pub words: String,
    pub closing: bool,
}

extern "C" {
    fn pb_coroutine_leave();
}

enum Way {
    Look,
    Try,
    Run(*mut Plan),
}

/// As in criterion: what a benchmark function gets.
pub struct Bencher<'a, M: Measurement = WallTime> {
    way: Way,
    measurement: PhantomData<&'a M>,
}

/// A benchmark was reached: call it, if it is meant.
pub fn reach<M: Measurement>(name: &str, bytes: Option<u64>, mut f: impl FnMut(&mut Bencher<'_, M>)) {
    let way = match registry::reach(name, bytes) {
        Step::Pass => return,
        Step::Look => Way::Look,
        Step::Try => Way::Try,
        Step::Run(plan) => Way::Run(plan),
    };
    let looking = matches!(way, Way::Look);
    let mut bencher = Bencher { way, measurement: PhantomData };
    if !looking {
        f(&mut bencher);
    } else if let Err(panic) = catch_unwind(AssertUnwindSafe(|| f(&mut bencher))) {
        registry::note_look(Err(format!("it panicked: {}", words(&*panic))));
    }
}

/// The words of a panic.
pub fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| text.to_string());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a word".into())
}

unsafe fn each<O, R: FnMut() -> O>(routine: *mut c_void, calls: u64) {
    let routine = &mut *routine.cast::<R>();
    for _ in 0..calls {
        black_box(routine());
    }
}

struct Kept<O, R> {
    routine: R,
    outputs: Vec<O>,
}

unsafe fn begin_kept<O, R>(kept: *mut c_void, calls: u64) {
    let kept = &mut *kept.cast::<Kept<O, R>>();
    kept.outputs = Vec::with_capacity(calls as usize);
}

unsafe fn each_kept<O, R: FnMut() -> O>(kept: *mut c_void, calls: u64) {
    let Kept { routine, outputs } = &mut *kept.cast::<Kept<O, R>>();
    for _ in 0..calls {
        outputs.push(routine());
    }
}

struct Batch<I, O, S, R> {
    setup: S,
    routine: R,
    inputs: Vec<I>,
    outputs: Vec<O>,
}

unsafe fn begin_batch<I, O, S: FnMut() -> I, R>(batch: *mut c_void, calls: u64) {
    let batch = &mut *batch.cast::<Batch<I, O, S, R>>();
    batch.outputs = Vec::new(); // those of the last sample are dropped untimed
    batch.inputs = (0..calls).map(|_| black_box((batch.setup)())).collect();
    batch.outputs = Vec::with_capacity(calls as usize);
}

unsafe fn each_batch<I, O, S, R: FnMut(I) -> O>(batch: *mut c_void, _calls: u64) {
    let batch = &mut *batch.cast::<Batch<I, O, S, R>>();
    let inputs = std::mem::take(&mut batch.inputs);
    batch.outputs.extend(inputs.into_iter().map(&mut batch.routine));
    black_box(&mut batch.outputs);
}

unsafe fn each_batch_ref<I, O, S, R: FnMut(&mut I) -> O>(batch: *mut c_void, _calls: u64) {
    let batch = &mut *batch.cast::<Batch<I, O, S, R>>();
    batch.outputs.extend(batch.inputs.iter_mut().map(&mut batch.routine));
    black_box(&mut batch.outputs);
}

unsafe fn each_custom<R: FnMut(u64) -> Duration>(routine: *mut c_void, calls: u64) {
    black_box((*routine.cast::<R>())(calls));
}

/// Of a call, that a routine must time itself for its calls to be timed as a whole.
const LEAST_SHARE: f64 = 0.98;
const LOOK: Duration = Duration::from_millis(5);
const MOST_CALLS: u64 = 1 << 24;

/// What a routine says that its calls took, over what they did, of so many that setting up hardly counts.
fn timed_share<R: FnMut(u64) -> Duration>(routine: &mut R) -> f64 {
    let mut calls = 1;
    loop {
        let began = Instant::now();
        let said = black_box(routine(calls));
        let whole = began.elapsed();
        if whole >= LOOK || calls >= MOST_CALLS {
            return said.as_secs_f64() / whole.as_secs_f64().max(1e-9);
        }
        calls *= 2;
    }
}

impl<M: Measurement> Bencher<'_, M> {
    /// Hand over `data` with its loop, and wait until the case is closed.
    fn hand_over<T>(
        &mut self,
        contract: &'static str,
        data: &mut T,
        begin: Option<unsafe fn(*mut c_void, u64)>,
        run: unsafe fn(*mut c_void, u64),
        most: u32,
    ) {
        let data = (data as *mut T).cast::<c_void>();
        match self.way {
            Way::Look => registry::note_look(Ok(contract)),
            // SAFETY: `data` is what the functions were made for, and lives until this function returns
            Way::Try => unsafe {
                if let Some(begin) = begin {
                    begin(data, 1);
                }
                run(data, 1);
            },
            // SAFETY: the plan lives as long as the case; this runs on the stack that the case entered
            Way::Run(plan) => unsafe {
                if !(*plan).closing {
                    ((*plan).data, (*plan).begin, (*plan).run, (*plan).most) = (data, begin, Some(run), most);
                    pb_coroutine_leave();
                }
            },
        }
    }

    /// Time `routine`; its output is dropped within the time.
    pub fn iter<O, R: FnMut() -> O>(&mut self, mut routine: R) {
        self.hand_over("routine/1", &mut routine, None, each::<O, R>, 0);
    }

    /// Time `routine`; its outputs are kept and dropped outside of the time.
    pub fn iter_with_large_drop<O, R: FnMut() -> O>(&mut self, routine: R) {
        let mut kept = Kept { routine, outputs: Vec::<O>::new() };
        self.hand_over("routine/1", &mut kept, Some(begin_kept::<O, R>), each_kept::<O, R>, 0);
    }

    /// Time `routine` on inputs that `setup` makes before each sample. Inputs are moved and outputs kept, as in criterion.
    pub fn iter_batched<I, O, S: FnMut() -> I, R: FnMut(I) -> O>(&mut self, setup: S, routine: R, size: BatchSize) {
        let mut batch = Batch { setup, routine, inputs: Vec::<I>::new(), outputs: Vec::<O>::new() };
        let begin = begin_batch::<I, O, S, R>;
        self.hand_over("batch/1", &mut batch, Some(begin), each_batch::<I, O, S, R>, size.most());
    }

    /// The same with a reference to the input, which is dropped outside of the time.
    pub fn iter_batched_ref<I, O, S: FnMut() -> I, R: FnMut(&mut I) -> O>(
        &mut self,
        setup: S,
        routine: R,
        size: BatchSize,
    ) {
        let mut batch = Batch { setup, routine, inputs: Vec::<I>::new(), outputs: Vec::<O>::new() };
        let begin = begin_batch::<I, O, S, R>;
        self.hand_over("batch/1", &mut batch, Some(begin), each_batch_ref::<I, O, S, R>, size.most());
    }

    /// `iter_batched` with one call in each sample.
    pub fn iter_with_setup<I, O, S: FnMut() -> I, R: FnMut(I) -> O>(&mut self, setup: S, routine: R) {
        self.iter_batched(setup, routine, BatchSize::PerIteration);
    }

    /// Time calls of `routine`, which reads a clock of its own, where that covers nearly all of a call. Otherwise it is
    /// named and not measured: Perbyte's clock cannot leave out what the routine's does.
    pub fn iter_custom<R: FnMut(u64) -> Duration>(&mut self, mut routine: R) {
        if matches!(self.way, Way::Look) {
            let share = timed_share(&mut routine);
            if !(LEAST_SHARE..=2.0 - LEAST_SHARE).contains(&share) {
                let why = format!("iter_custom times {:.0} % of its calls by a clock of its own; use iter or iter_batched", 100.0 * share);
                registry::note_look(Err(why));
                return;
            }
        }
        self.hand_over("routine/1", &mut routine, None, each_custom::<R>, 0);
    }
}
