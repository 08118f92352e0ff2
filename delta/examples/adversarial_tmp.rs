use playerthree_delta::{diff, apply};
use serde_json::{Value, json};
use std::time::Instant;
fn main() {
    let mut s = 1u32; let mut r = move |n: u32| { s = s.wrapping_mul(1664525).wrapping_add(1013904223); (s >> 8) % n };
    let mut shuffle = |mut v: Vec<Value>, r: &mut dyn FnMut(u32) -> u32| { for i in (1..v.len()).rev() { let j = r(i as u32 + 1) as usize; v.swap(i, j); } v };
    for n in [500u32, 2000, 8000] {
        let ids: Vec<Value> = (0..n).map(|i| json!({"id": i, "x": i, "name": "some unit"})).collect();
        let anon: Vec<Value> = (0..n).map(|i| json!({"x": i, "name": format!("u{}", i % 50)})).collect();
        let nums = |k: u32, r: &mut dyn FnMut(u32) -> u32| -> Vec<Value> { (0..n).map(|_| json!(r(k))).collect() };
        let cases: Vec<(&str, Vec<Value>, Vec<Value>)> = vec![
            ("ids shuffled", ids.clone(), shuffle(ids.clone(), &mut r)),
            ("anon shuffled", anon.clone(), shuffle(anon.clone(), &mut r)),
            ("bits", nums(2, &mut r), nums(2, &mut r)),
            ("nums 50", nums(50, &mut r), nums(50, &mut r)),
            ("nums n", nums(n, &mut r), nums(n, &mut r)),
            ("all changed anon", anon.clone(), (0..n).map(|i| json!({"x": i + 100000, "name": format!("v{}", i % 50)})).collect()),
            ("reversed", ids.clone(), ids.iter().rev().cloned().collect()),
            ("same id", (0..n).map(|i| json!({"id": 0, "x": i})).collect(), (0..n).map(|i| json!({"id": 0, "x": i*2})).collect()),
        ];
        for (name, a, b) in cases {
            let (a, b) = (Value::from(a), Value::from(b));
            let t = Instant::now(); let d = diff(&a, &b).unwrap(); let el = t.elapsed();
            let t2 = Instant::now(); let c = apply(a, &d).unwrap(); let el2 = t2.elapsed();
            assert_eq!(c, b);
            println!("{n:>5} {name:<18} diff {el:>10.1?} apply {el2:>10.1?} {} of {}", d.as_wire().to_string().len(), b.to_string().len());
        }
    }
    let t = "ab".repeat(500_000); let u = format!("x{}y", "ba".repeat(500_000));
    let now = Instant::now(); let d = diff(&json!(t), &json!(u)).unwrap(); println!("text {:?} {}", now.elapsed(), d.as_wire().to_string().len());
}
