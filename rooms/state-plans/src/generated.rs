//! The random types that the build wrote.

use crate::Member;

include!(concat!(env!("OUT_DIR"), "/family.rs"));
