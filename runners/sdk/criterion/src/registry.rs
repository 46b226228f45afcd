//! Which benchmarks a program has, and which one of them is meant: the groups are run from the beginning, and each
//! benchmark that is reached is asked for, looked at, or passed by.

use crate::bencher::Plan;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashSet};

/// A benchmark as it was found.
#[derive(Clone)]
pub struct Found {
    pub id: String,
    pub name: String,
    pub bytes: Option<u64>,
    pub contract: &'static str,
    /// Why it cannot be measured; empty where it can.
    pub why: String,
    target: usize,
}

/// What becomes of the benchmark that was reached.
pub enum Step {
    Pass,
    Look,
    Run(*mut Plan),
    Try,
}

#[derive(Clone, Copy)]
enum Mode {
    Pass,
    Look,
    Only(usize, *mut Plan),
    Try,
}

struct State {
    groups: Vec<fn()>,
    mode: Mode,
    found: Vec<Found>,
    ids: HashSet<String>,
    unheeded: BTreeSet<&'static str>,
    target: usize,
    reached: usize,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::new(State {
        groups: Vec::new(), mode: Mode::Pass, found: Vec::new(), ids: HashSet::new(), unheeded: BTreeSet::new(),
        target: 0, reached: 0,
    });
}

pub fn set_groups(groups: &[fn()]) {
    STATE.with_borrow_mut(|state| state.groups = groups.to_vec());
}

fn run_groups(mode: Mode) {
    let groups = STATE.with_borrow_mut(|state| {
        (state.mode, state.target, state.reached) = (mode, 0, 0);
        state.groups.clone()
    });
    groups.iter().for_each(|group| group());
}

/// Find all benchmarks, and look at what each of them hands over.
pub fn look() -> Vec<Found> {
    run_groups(Mode::Look);
    STATE.with_borrow(|state| state.found.clone())
}

/// Call each routine once, as `cargo test` does.
pub fn try_all() {
    run_groups(Mode::Try);
}

/// Run what leads to the benchmark `index` of those that `look` found.
pub fn run_only(index: usize, plan: *mut Plan) {
    run_groups(Mode::Only(index, plan));
}

/// From now on no benchmark is meant.
pub fn pass_all() {
    STATE.with_borrow_mut(|state| state.mode = Mode::Pass);
}

/// Settings that files make and that nothing here follows.
pub fn unheeded() -> Vec<&'static str> {
    STATE.with_borrow(|state| state.unheeded.iter().copied().collect())
}

pub fn leave_unheeded(name: &'static str) {
    STATE.with_borrow_mut(|state| state.unheeded.insert(name));
}

/// True where the next target of `criterion_group!` holds a benchmark that is meant.
pub fn enter_target() -> bool {
    STATE.with_borrow_mut(|state| {
        state.target += 1;
        match state.mode {
            Mode::Pass => false,
            Mode::Look | Mode::Try => true,
            Mode::Only(index, _) => state.found[index].target == state.target,
        }
    })
}

/// A benchmark was reached.
pub fn reach(name: &str, bytes: Option<u64>) -> Step {
    STATE.with_borrow_mut(|state| {
        match state.mode {
            Mode::Pass => Step::Pass,
            Mode::Try => Step::Try,
            Mode::Look => {
                let id = state.new_id(name);
                let target = state.target;
                let why = String::from("it never calls iter");
                state.found.push(Found { id, name: name.into(), bytes, contract: "", why, target });
                Step::Look
            }
            Mode::Only(index, plan) => {
                let alike = |it: &Found| it.target == state.target && it.name == name;
                if !alike(&state.found[index]) {
                    return Step::Pass;
                }
                let before = state.found[..index].iter().filter(|it| alike(it)).count();
                state.reached += 1; // of several that are called the same
                if state.reached == before + 1 { Step::Run(plan) } else { Step::Pass }
            }
        }
    })
}

/// What the benchmark that was looked at hands over: a contract, or why not.
pub fn note_look(seen: Result<&'static str, String>) {
    STATE.with_borrow_mut(|state| {
        if let Some(last) = state.found.last_mut() {
            match seen {
                Ok(_) if !last.contract.is_empty() => last.why = "it hands over more than one routine".into(),
                Ok(contract) => (last.contract, last.why) = (contract, String::new()),
                Err(why) => last.why = why,
            }
        }
    });
}

const LONGEST_ID: usize = 80;

impl State {
    /// The catalogue's form of a name: nobody knows what it should compute, and the id says so.
    fn new_id(&mut self, name: &str) -> String {
        let plain: String = name.to_lowercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let words: Vec<&str> = plain.split('-').filter(|word| !word.is_empty()).collect();
        let mut stem = format!("unverified-{}", words.join("-"));
        stem.truncate(LONGEST_ID);
        let stem = stem.trim_end_matches('-').to_string();
        let mut id = stem.clone();
        let mut number = 2;
        while !self.ids.insert(id.clone()) {
            id = format!("{stem}-{number}");
            number += 1;
        }
        id
    }
}
