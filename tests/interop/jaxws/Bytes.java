import jakarta.activation.DataHandler;
import jakarta.activation.DataSource;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/** Bytes of an array as what JAX-WS attaches. */
public final class Bytes implements DataSource {
    private final byte[] bytes;

    private Bytes(byte[] bytes) {
        this.bytes = bytes;
    }

    /** A transfer-information with these bytes. */
    public static Transfer transfer(String mechanism, byte[] bytes) {
        Transfer transfer = new Transfer();
        transfer.mechanism = Names.MECHANISM + mechanism;
        if (bytes != null) {
            Data data = new Data();
            data.bytes = new DataHandler(new Bytes(bytes));
            transfer.any.add(data);
        }
        return transfer;
    }

    /** The bytes of a transfer-information. */
    public static byte[] of(Transfer transfer) throws IOException {
        if (transfer.any.isEmpty()) {
            return new byte[0];
        }
        DataHandler handler = ((Data) transfer.any.get(0)).bytes;
        try (InputStream in = handler == null ? new ByteArrayInputStream(new byte[0]) : handler.getInputStream()) {
            return in.readAllBytes();
        }
    }

    @Override
    public String getContentType() {
        return "application/octet-stream";
    }

    @Override
    public String getName() {
        return null;
    }

    @Override
    public InputStream getInputStream() {
        return new ByteArrayInputStream(bytes);
    }

    @Override
    public OutputStream getOutputStream() throws IOException {
        throw new IOException("read only");
    }
}
