import java.io.RandomAccessFile;
import java.net.ServerSocket;
import java.util.Arrays;
import org.apache.axis.MessageContext;
import org.apache.axis.message.SOAPBodyElement;
import org.apache.axis.transport.http.SimpleAxisServer;
import org.w3c.dom.Element;

/** A service of one file on Axis 1.4, as Genesis II had it: bytes in a part that nothing refers to. */
public class AxisService {
    private static long number(Element body, String name) {
        return Long.parseLong(body.getElementsByTagNameNS(Part.RANDOM, name).item(0).getFirstChild().getNodeValue().trim());
    }

    /** The last part of the mechanism that a request names. */
    private static String mechanism(Element body) {
        Element transfer = (Element) body.getElementsByTagNameNS(Part.RANDOM, "transfer-information").item(0);
        String name = transfer.getAttribute("transfer-mechanism");
        return name.substring(name.lastIndexOf('/') + 1);
    }

    private static RandomAccessFile file(String mode) throws Exception {
        return new RandomAccessFile(System.getProperty("file"), mode);
    }

    public SOAPBodyElement[] read(SOAPBodyElement[] in) throws Exception {
        Element body = in[0].getAsDOM();
        byte[] bytes = new byte[(int) number(body, "bytes-per-block")];
        int filled = 0;
        try (RandomAccessFile file = file("r")) {
            file.seek(number(body, "start-offset"));
            int count;
            while (filled < bytes.length && (count = file.read(bytes, filled, bytes.length - filled)) > 0) {
                filled += count;
            }
        }
        String mechanism = mechanism(body);
        Part.attach(MessageContext.getCurrentContext().getResponseMessage(), mechanism, Arrays.copyOf(bytes, filled));
        return new SOAPBodyElement[] {Part.element("readResponse", mechanism)};
    }

    public SOAPBodyElement[] write(SOAPBodyElement[] in) throws Exception {
        Element body = in[0].getAsDOM();
        try (RandomAccessFile file = file("rw")) {
            file.seek(number(body, "start-offset"));
            file.write(Part.only(MessageContext.getCurrentContext().getRequestMessage()));
        }
        return new SOAPBodyElement[] {Part.element("writeResponse", "mtom")};
    }

    public SOAPBodyElement[] truncAppend(SOAPBodyElement[] in) throws Exception {
        try (RandomAccessFile file = file("rw")) {
            file.setLength(number(in[0].getAsDOM(), "offset"));
        }
        return new SOAPBodyElement[] {Part.element("truncAppendResponse", "mtom")};
    }

    public static void main(String[] arguments) throws Exception {
        SimpleAxisServer server = new SimpleAxisServer(20);
        server.setServerSocket(new ServerSocket(Integer.parseInt(arguments[0])));
        System.out.println("listening on " + arguments[0]);
        server.run();
    }
}
