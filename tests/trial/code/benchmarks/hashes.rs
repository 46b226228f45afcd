use criterion::{
    criterion_group, criterion_main, measurement::Measurement, BatchSize, BenchmarkGroup, BenchmarkId, Criterion,
    Throughput,
};
use std::time::Duration;

/// Whether what a benchmark holds is dropped when its case is closed is seen from outside.
struct Held;

impl Drop for Held {
    fn drop(&mut self) {
        if let Ok(path) = std::env::var("HELD") {
            std::fs::write(path, "dropped").unwrap();
        }
    }
}

fn sums<M: Measurement>(group: &mut BenchmarkGroup<'_, M>, size: usize) {
    let data = vec![1u8; size];
    group.throughput(Throughput::Bytes(size as u64));
    group.bench_with_input(BenchmarkId::new("sum", size), &data, |b, data| {
        let held = Held;
        println!("what is printed does no harm");
        b.iter(|| black_box(&held, data).iter().map(|x| *x as u64).sum::<u64>())
    });
}

fn black_box<'a>(_: &Held, data: &'a [u8]) -> &'a [u8] {
    criterion::black_box(data)
}

fn grouped(c: &mut Criterion) {
    let mut group = c.benchmark_group("sums");
    group.sample_size(10);
    sums(&mut group, 64);
    sums(&mut group, 1024);
    group.finish();
}

fn single(c: &mut Criterion) {
    let mut made = 0u64;
    let mut taken = 0u64;
    c.bench_function("batched", |b| {
        b.iter_batched(
            || {
                made += 1;
                made
            },
            |input| {
                taken += 1;
                assert_eq!(input, taken, "each input is made once and comes in order");
                input
            },
            BatchSize::SmallInput,
        )
    });
    c.bench_function("one at a time", |b| b.iter_with_setup(|| vec![1u8; 16], |data| data.len()));
    c.bench_function("by its own clock", |b| b.iter_custom(|_| Duration::from_secs(1)));
    c.bench_function("nothing", |_| {});
    c.bench_function("gives up", |_| panic!("no such key"));
    let mut calls = 0;
    c.bench_function("fails later", |b| {
        b.iter(|| {
            calls += 1;
            assert!(calls < 5, "enough");
        })
    });
    c.bench_function("Fails-Later", |b| b.iter(|| 1));
}

criterion_group!(first, grouped);
criterion_group!(name = second; config = Criterion::default().measurement_time(Duration::from_secs(1)); targets = single);
criterion_main!(first, second);
