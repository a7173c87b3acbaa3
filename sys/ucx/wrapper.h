/* What the bindings are made from: `cargo xtask bindings ucx` hands this file to bindgen. */
#include <ucp/api/ucp.h>
#include <uct/api/uct.h>
#include <ucs/async/async_fwd.h>
