/** Names of the specification, and what both ends need of JAX-WS. */
public final class Names {
    public static final String BYTEIO = "http://schemas.ggf.org/byteio/2005/10/byte-io";
    public static final String RANDOM = "http://schemas.ggf.org/byteio/2005/10/random-access";
    public static final String STREAM = "http://schemas.ggf.org/byteio/2005/10/streamable-access";
    public static final String MECHANISM = "http://schemas.ggf.org/byteio/2005/10/transfer-mechanisms/";

    private Names() {}
}
