//! Parameters of a form or a query, read strictly (RFC 6749 §3.1): none twice, an empty one as if it were not there.

use crate::fault::Fault;
use std::collections::BTreeMap;
use url::form_urlencoded;

/// Longest form or query, in bytes.
pub(crate) const FORM_BYTES: usize = 8_192;

/// Most parameters of one request.
const PARAMS_MAX: usize = 1_024;

/// The parameters of one request.
#[derive(Debug)]
pub(crate) struct Params(BTreeMap<String, String>);

impl Params {
    /// Reads a form. Fails `invalid_request` past the bounds and for a repeated parameter.
    pub(crate) fn parse(form: &str) -> Result<Self, Fault> {
        Self::parse_up_to(form, FORM_BYTES)
    }

    /// Reads a form of another length.
    pub(crate) fn parse_up_to(form: &str, limit: usize) -> Result<Self, Fault> {
        if form.len() > limit {
            return Err(Fault::InvalidRequest);
        }
        let mut params = BTreeMap::new();
        for (name, value) in form_urlencoded::parse(form.as_bytes()) {
            let repeated = params.insert(name.into_owned(), value.into_owned()).is_some();
            if repeated || params.len() > PARAMS_MAX {
                return Err(Fault::InvalidRequest);
            }
        }
        params.retain(|_, value| !value.is_empty());
        Ok(Self(params))
    }

    /// A parameter, if it is there.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// A parameter that has to be there.
    pub(crate) fn need(&self, name: &str) -> Result<&str, Fault> {
        self.get(name).ok_or(Fault::InvalidRequest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6749 §3.1: repeated parameters are refused, empty ones are none.
    #[test]
    fn a_parameter_comes_once_or_not_at_all() {
        let params = Params::parse("a=1&b=&c=%20x").unwrap();
        assert_eq!((params.get("a"), params.get("b"), params.get("c")), (Some("1"), None, Some(" x")));
        for form in ["a=1&a=2", "a=&a=2", "a=1&%61=1"] {
            assert_eq!(Params::parse(form).unwrap_err(), Fault::InvalidRequest, "{form}");
        }
    }

    #[test]
    fn long_forms_and_many_parameters_are_refused() {
        assert!(Params::parse(&format!("a={}", "x".repeat(FORM_BYTES))).is_err());
        let many: Vec<String> = (0..=PARAMS_MAX).map(|n| format!("p{n}=1")).collect();
        assert!(Params::parse(&many[1..].join("&")).is_ok());
        assert!(Params::parse(&many.join("&")).is_err());
    }
}
