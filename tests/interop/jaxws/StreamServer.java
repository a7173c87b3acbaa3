import jakarta.jws.WebService;
import jakarta.xml.ws.Endpoint;
import jakarta.xml.ws.soap.MTOMFeature;

/** One file as a stream, by the operations of the random-access service on it. */
@WebService(endpointInterface = "StreamableByteIO", targetNamespace = Names.STREAM, serviceName = "StreamableByteIOService", portName = "StreamableByteIOPort")
public class StreamServer implements StreamableByteIO {
    private final Server file = new Server();

    private static void fromBeginning(String origin) {
        if (!origin.endsWith("/beginning")) {
            throw new IllegalArgumentException(origin);
        }
    }

    @Override
    public Transfer seekRead(long offset, String origin, int bytes, Transfer transfer) {
        fromBeginning(origin);
        return file.read(offset, bytes, 1, 0, transfer);
    }

    @Override
    public Transfer seekWrite(long offset, String origin, Transfer transfer) {
        fromBeginning(origin);
        return file.write(offset, 0, 0, transfer);
    }

    public static void main(String[] arguments) throws Exception {
        Server.serve(arguments[1]);
        Endpoint.create(new StreamServer(), new MTOMFeature()).publish(arguments[0]);
        System.out.println("listening on " + arguments[0]);
        Thread.sleep(Long.MAX_VALUE);
    }
}
