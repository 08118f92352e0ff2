//! One JSON POST over a connection of its own. Each exchange is bounded in time and in the size of its answer.
//!
//! Connections are not kept: a real player sends one such request in a session, and so does a simulated one.

use crate::config::Config;
use crate::endpoint::Endpoint;
use crate::{Error, Result};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST};
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// Bytes of the read buffer of an exchange, also the bound of the answer's headers.
const BUFFER_BYTES: usize = 8 * 1024;

/// A connected socket with the settings of all of ours.
pub(crate) async fn connect(endpoint: &Endpoint) -> Result<TcpStream> {
    let stream = TcpStream::connect((endpoint.host.as_str(), endpoint.port)).await.map_err(Error::Connect)?;
    stream.set_nodelay(true).map_err(Error::Connect)?;
    Ok(stream)
}

/// Sends `body` with these headers beside its own and returns the answer. The caller bounds the time.
pub(crate) async fn post(
    endpoint: &Endpoint,
    path: &str,
    headers: HeaderMap,
    body: Vec<u8>,
    config: &Config,
) -> Result<Response<Bytes>> {
    let request = request(endpoint, path, headers, body)?;
    let stream = connect(endpoint).await?;
    let (mut sender, connection) = http1::Builder::new()
        .max_buf_size(BUFFER_BYTES)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(Error::Http)?;
    // The sender moves into the exchange and is dropped with it, which is what ends the connection.
    let exchange = async move {
        let (parts, body) = sender.send_request(request).await.map_err(Error::Http)?.into_parts();
        Ok(Response::from_parts(parts, collect(body, config.max_answer_bytes).await?))
    };
    let (answer, _) = tokio::join!(exchange, connection);
    answer
}

fn request(
    endpoint: &Endpoint,
    path: &str,
    headers: HeaderMap,
    body: Vec<u8>,
) -> Result<Request<Full<Bytes>>> {
    let request = Request::post(endpoint.target(path))
        .header(HOST, &endpoint.authority)
        .header(CONTENT_TYPE, "application/json");
    let mut request = request.body(Full::new(Bytes::from(body))).map_err(|_| Error::Endpoint)?;
    request.headers_mut().extend(headers);
    Ok(request)
}

async fn collect(body: Incoming, max_bytes: usize) -> Result<Bytes> {
    match Limited::new(body, max_bytes).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(Error::TooLarge),
        Err(error) => Err(error.downcast().map_or(Error::Answer, |error| Error::Http(*error))),
    }
}
