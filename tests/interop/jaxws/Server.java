import jakarta.jws.WebService;
import jakarta.xml.ws.Endpoint;
import jakarta.xml.ws.soap.MTOMFeature;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.util.Arrays;

/** A service of one file, written with nothing but the specification and JAX-WS. */
@WebService(endpointInterface = "RandomByteIO", targetNamespace = Names.RANDOM, serviceName = "RandomByteIOService", portName = "RandomByteIOPort")
public class Server implements RandomByteIO {
    private static String path;

    /** The file that all of them serve. */
    static void serve(String file) {
        path = file;
    }

    private static Transfer done(Transfer transfer) {
        Transfer answer = new Transfer();
        answer.mechanism = transfer.mechanism;
        return answer;
    }

    @Override
    public Transfer read(long start, int block, int blocks, long stride, Transfer transfer) {
        try (RandomAccessFile file = new RandomAccessFile(path, "r")) {
            byte[] bytes = new byte[block * blocks];
            int filled = 0;
            for (int number = 0; number < blocks; number++) {
                file.seek(start + number * stride);
                int wanted = filled + block;
                int count;
                while (filled < wanted && (count = file.read(bytes, filled, wanted - filled)) > 0) {
                    filled += count;
                }
                if (filled < wanted) {
                    break;
                }
            }
            String mechanism = transfer.mechanism.substring(Names.MECHANISM.length());
            return Bytes.transfer(mechanism, Arrays.copyOf(bytes, filled));
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    private Transfer put(long at, boolean cut, Transfer transfer) {
        try (RandomAccessFile file = new RandomAccessFile(path, "rw")) {
            if (cut) {
                file.setLength(at);
            }
            file.seek(at < 0 ? file.length() : at);
            file.write(Bytes.of(transfer));
            return done(transfer);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    @Override
    public Transfer write(long start, int block, long stride, Transfer transfer) {
        return put(start, false, transfer);
    }

    @Override
    public Transfer append(Transfer transfer) {
        return put(-1, false, transfer);
    }

    @Override
    public Transfer truncAppend(long offset, Transfer transfer) {
        return put(offset, true, transfer);
    }

    public static void main(String[] arguments) throws Exception {
        serve(arguments[1]);
        Endpoint.create(new Server(), new MTOMFeature()).publish(arguments[0]);
        System.out.println("listening on " + arguments[0]);
        Thread.sleep(Long.MAX_VALUE);
    }
}
